-- Queries over {t} and {u}, tables of any kind, {old}, what {t} was, and {dim}; see tests/spark/test_selects.py.
-- filter 1
SELECT * FROM {t} WHERE id = 17;

-- filter 2
SELECT id, v, m FROM {t} WHERE id IN (3, 5, 8, 13, 21, 34, 55, 89, 144, 233, 377, 610);

-- filter 3
SELECT id FROM {t} WHERE small < -10 OR small > 30;

-- filter 4
SELECT id, w FROM {t} WHERE w BETWEEN 100 AND 5000;

-- filter 5
SELECT id, w FROM {t} WHERE w > 2147483647 OR w = -5;

-- filter 6
SELECT id FROM {t} WHERE n > 1099511627776 OR n IS NULL;

-- filter 7
SELECT id, f FROM {t} WHERE f > 1.25 AND f < 40;

-- filter 8
SELECT id, f FROM {t} WHERE f = float(0.1) OR f = 0;

-- filter 9
SELECT id, d FROM {t} WHERE d = double('NaN') OR d <= -3.5 OR d = 0;

-- filter 10
SELECT id, d FROM {t} WHERE d > 100 OR isnan(d);

-- filter 11
SELECT id, m FROM {t} WHERE m >= 99.99 OR m = -1.25;

-- filter 12
SELECT id, big FROM {t} WHERE big > 12345678901234567890.5 OR big < 0.00001;

-- filter 13
SELECT id, v FROM {t} WHERE v LIKE 'a%' OR v LIKE '%\\_%';

-- filter 14
SELECT id, v FROM {t} WHERE v > 'b' AND v <= 'zz' AND length(v) > 1;

-- filter 15
SELECT id, v FROM {t} WHERE v <=> NULL OR v = '';

-- filter 16
SELECT id, vc FROM {t} WHERE vc = 'ab' OR vc = 'ab ' OR vc IN ('x', 'yy');

-- filter 17
SELECT id, b FROM {t} WHERE b;

-- filter 18
SELECT id, b FROM {t} WHERE NOT b AND id < 100;

-- filter 19
SELECT id, day FROM {t} WHERE day >= DATE'2026-02-01' AND day < DATE'2026-03-01';

-- filter 20
SELECT id, day FROM {t} WHERE day IS NULL OR day < DATE'1970-01-02';

-- filter 21
SELECT id, day FROM {t} WHERE year(day) = 2026 AND month(day) IN (1, 3);

-- filter 22
SELECT id, ts FROM {t} WHERE ts > TIMESTAMP'2026-02-10 12:00:00' OR ts < TIMESTAMP'1970-01-01';

-- filter 23
SELECT id, nt FROM {t} WHERE nt BETWEEN TIMESTAMP_NTZ'2026-01-15 00:00:00' AND TIMESTAMP_NTZ'2026-01-20 00:00:00.000001';

-- filter 24
SELECT id, hex(bin) FROM {t} WHERE bin = X'00FF' OR bin > X'80';

-- filter 25
SELECT id, l FROM {t} WHERE size(l) = 2 AND array_contains(l, 3);

-- filter 26
SELECT id, map_entries(k) e FROM {t} WHERE k['a'] > 2;

-- filter 27
SELECT id, x.a, x FROM {t} WHERE x.a > 5 AND x.c IS NOT NULL;

-- filter 28
SELECT id, x.c FROM {t} WHERE x IS NULL OR x.a IS NULL;

-- filter 29
SELECT id, extra FROM {t} WHERE extra IS NULL;

-- filter 30
SELECT id, extra FROM {t} WHERE extra > 260;

-- filter 31
SELECT id, p FROM {t} WHERE p = 'p1';

-- filter 32
SELECT id, p FROM {t} WHERE p IN ('p0', 'p2') AND id < 60;

-- filter 33
SELECT id FROM {t} WHERE p IS NULL OR p <> 'p1';

-- filter 34
SELECT id FROM {t} WHERE upper(p) = 'P2' AND v IS NOT NULL;

-- filter 35
SELECT id FROM {t} WHERE NOT (id > 50 AND (v = 'a' OR m IS NULL));

-- filter 36
SELECT id FROM {t} WHERE CASE WHEN b THEN n > 0 ELSE w < 0 END;

-- filter 37
SELECT id FROM {t} WHERE id NOT IN (1, 2, NULL);

-- filter 38
SELECT id, v FROM {t} WHERE v IN ('a', 'ab', 'ä', 'O''Hara', '😀') AND id % 2 = 0;

-- filter 39
SELECT id FROM {t} WHERE id = 1.5 OR id = '7' OR n = 2.0;

-- aggregate 1
SELECT count(*) FROM {t};

-- aggregate 2
SELECT count(*), count(v), count(DISTINCT v), count(DISTINCT p, b) FROM {t};

-- aggregate 3
SELECT min(id), max(id), min(day), max(day), min(m), max(m), min(n), max(n), min(v), max(v) FROM {t};

-- aggregate 4
SELECT min(small), max(w), min(big), max(f), max(d), min(ts), max(nt), min(extra), bool_or(b) FROM {t};

-- aggregate 5
SELECT p, count(*), min(id), max(id), sum(n), sum(m), avg(w), sum(d) FROM {t} WHERE NOT isnan(d) GROUP BY p;

-- aggregate 6
SELECT p, count(*) FROM {t} GROUP BY p;

-- aggregate 7
SELECT count(*), max(id) FROM {t} WHERE p = 'p1';

-- aggregate 8
SELECT max(p), count(DISTINCT p), min(p) FROM {t};

-- aggregate 9
SELECT DISTINCT p FROM {t};

-- aggregate 10
SELECT day, b, count(*) c, sum(w) FROM {t} GROUP BY day, b HAVING count(*) > 3;

-- aggregate 11
SELECT id % 5, percentile(w, 0.5), stddev_samp(id), approx_count_distinct(p) FROM {t} GROUP BY id % 5;

-- aggregate 12
SELECT p, b, grouping(p), count(*), sum(m) FROM {t} GROUP BY ROLLUP (p, b);

-- aggregate 13
SELECT p, day, count(*) FROM {t} GROUP BY GROUPING SETS ((p), (day), ());

-- aggregate 14
SELECT id, count(*), max(v) FROM {t} GROUP BY id HAVING count(*) > 1 OR id < 9;

-- aggregate 15
SELECT sort_array(collect_list(id)) FROM {t} WHERE id < 20 GROUP BY p;

-- aggregate 16
SELECT v, max_by(id, id), min_by(id, id), count_if(b) FROM {t} GROUP BY v;

-- aggregate 17
SELECT DISTINCT v, vc FROM {t} WHERE id < 200;

-- aggregate 18
SELECT * FROM (SELECT p, b, m FROM {t}) PIVOT (sum(m) FOR p IN ('p0' AS a, 'p1' AS c));

-- first rows 1
SELECT id, v FROM {t} WHERE id < 300 ORDER BY id DESC, v, n LIMIT 7;

-- first rows 2
SELECT m FROM {t} ORDER BY m NULLS LAST LIMIT 9;

-- first rows 3
SELECT day FROM {t} ORDER BY day DESC NULLS LAST LIMIT 11 OFFSET 3;

-- first rows 4
SELECT ts FROM {t} WHERE p = 'p2' ORDER BY ts LIMIT 5;

-- first rows 5
SELECT v FROM {t} ORDER BY v DESC LIMIT 6;

-- first rows 6
SELECT count(*) FROM (SELECT id FROM {t} LIMIT 13);

-- window 1
SELECT id, row_number() OVER (PARTITION BY p ORDER BY id, n, v, w, day, ts) r FROM {t} QUALIFY r <= 3;

-- window 2
SELECT id, sum(w) OVER (PARTITION BY id) s, count(*) OVER (PARTITION BY id, p) c FROM {t};

-- window 3
SELECT p, id, rank() OVER (PARTITION BY p ORDER BY day) FROM {t} WHERE id BETWEEN 100 AND 160;

-- window 4
SELECT DISTINCT id, lag(id) OVER (ORDER BY id), lead(id, 2) OVER (ORDER BY id) FROM (SELECT DISTINCT id FROM {t});

-- window 5
SELECT id, sum(n) OVER (PARTITION BY p ORDER BY id RANGE BETWEEN 5 PRECEDING AND CURRENT ROW) FROM {t};

-- join 1
SELECT t.id, t.v, u.v FROM {t} t JOIN {u} u ON t.id = u.id WHERE t.id % 7 = 0;

-- join 2
SELECT t.id, t.p, u.m FROM {t} t JOIN {u} u ON t.id = u.id AND t.p = u.p;

-- join 3
SELECT t.id, u.id FROM {t} t LEFT JOIN {u} u ON t.id = u.id AND u.b WHERE t.id < 80;

-- join 4
SELECT t.id, u.id, u.day FROM {t} t RIGHT JOIN {u} u ON t.id = u.id AND t.day = u.day;

-- join 5
SELECT t.id, u.id FROM {t} t FULL OUTER JOIN {u} u ON t.id = u.id + 200;

-- join 6
SELECT count(*), sum(t.id) FROM {t} t LEFT SEMI JOIN {u} u ON t.v = u.v AND u.id > 350;

-- join 7
SELECT t.id FROM {t} t LEFT ANTI JOIN {u} u ON t.id = u.id;

-- subquery 1
SELECT count(*) FROM {t} t CROSS JOIN (SELECT id FROM {u} WHERE id < 4) u WHERE t.id > u.id;

-- join 8
SELECT d.name, count(*), sum(t.w) FROM {t} t JOIN {dim} d ON t.p = d.p WHERE d.kept GROUP BY d.name;

-- join 9
SELECT t.id, d.name FROM {t} t JOIN {dim} d ON t.day = d.day WHERE d.name LIKE 'n%';

-- join 10
SELECT a.id, count(*) FROM {t} a JOIN {t} b ON a.id = b.id AND a.p <=> b.p GROUP BY a.id HAVING count(*) > 1 OR a.id < 5;

-- subquery 2
SELECT t.id, s.total FROM {t} t JOIN (SELECT id, sum(w) total FROM {u} GROUP BY id) s ON t.id = s.id WHERE s.total > 100;

-- join 11
SELECT t.id, u.id, z.id FROM {t} t JOIN {u} u ON t.id = u.id JOIN {t} z ON z.id = u.id WHERE t.id IN (40, 41, 250, 251);

-- join 12
SELECT t.p, e.pos, e.col FROM {t} t LATERAL VIEW posexplode(l) e WHERE t.id < 50;

-- join 13
SELECT t.id, s.n FROM {t} t, LATERAL (SELECT max(u.id) n FROM {u} u WHERE u.p = t.p AND u.id < t.id) s WHERE t.id % 50 = 1;

-- subquery 3
SELECT id FROM {t} WHERE id IN (SELECT id FROM {u} WHERE b AND m > 10);

-- subquery 4
SELECT id FROM {t} WHERE id NOT IN (SELECT id FROM {u} WHERE id > 50);

-- subquery 5
SELECT id FROM {t} t WHERE EXISTS (SELECT 1 FROM {u} u WHERE u.id = t.id AND u.v = t.v);

-- subquery 6
SELECT id FROM {t} t WHERE NOT EXISTS (SELECT 1 FROM {u} u WHERE u.id = t.id AND u.day > t.day);

-- subquery 7
SELECT id, m FROM {t} t WHERE m > (SELECT avg(m) FROM {u} u WHERE u.p = t.p);

-- subquery 8
SELECT id, (SELECT count(*) FROM {u} u WHERE u.id = t.id) FROM {t} t WHERE t.id < 30;

-- subquery 9
SELECT count(*) FROM {t} WHERE w = (SELECT max(w) FROM {t});

-- subquery 10
SELECT count(*) FROM {t} WHERE (id, p) IN (SELECT id, p FROM {u});

-- subquery 11
SELECT count(*) FROM {t} WHERE p IN (SELECT p FROM {dim} WHERE kept);

-- subquery 12
SELECT count(*) FROM {t} WHERE p = (SELECT max(p) FROM {u});

-- subquery 13
SELECT count(*) FROM {t} t WHERE id > 100 OR EXISTS (SELECT 1 FROM {u} u WHERE u.id = t.id AND u.b);

-- subquery 14
WITH a AS (SELECT p, sum(w) s FROM {t} GROUP BY p), z AS (SELECT max(s) m FROM a) SELECT a.p, a.s = z.m FROM a, z;

-- set operation 1
SELECT id, p FROM {t} UNION SELECT id, p FROM {u};

-- set operation 2
SELECT id FROM {t} WHERE id < 60 UNION ALL SELECT id FROM {u} WHERE id > 340;

-- set operation 3
SELECT id, v FROM {t} INTERSECT SELECT id, v FROM {u};

-- set operation 4
SELECT id FROM {t} INTERSECT ALL SELECT id FROM {u};

-- set operation 5
SELECT id FROM {t} EXCEPT SELECT id FROM {u} WHERE b;

-- set operation 6
SELECT id, b FROM {t} EXCEPT ALL SELECT id, b FROM {u} WHERE id > 100;

-- set operation 7
SELECT p, sum(c) FROM (SELECT p, 1 c FROM {t} UNION ALL SELECT p, -1 FROM {u}) GROUP BY p;

-- time travel 1
SELECT id, v, m FROM {old};

-- time travel 2
SELECT count(*), max(id), min(day) FROM {old} WHERE p = 'p0';

-- time travel 3
SELECT o.id FROM {old} o LEFT ANTI JOIN {t} t ON o.id = t.id;

-- time travel 4
SELECT t.id FROM {t} t JOIN {old} o ON t.id = o.id WHERE NOT (t.v <=> o.v);

-- time travel 5
SELECT p, count(*) FROM {old} GROUP BY p;

-- time travel 6
SELECT id FROM {t} EXCEPT SELECT id FROM {old};
