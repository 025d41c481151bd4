-- What analysts write, over the tables of tests/sql_engine/market.py: each is answered without Spark, with Spark's rows.

-- sales per month
SELECT date_trunc('MONTH', day) AS month, sum(qty * price) AS revenue FROM db.sales GROUP BY date_trunc('MONTH', day) ORDER BY month;

-- sales per year and month as text
SELECT date_format(day, 'yyyy-MM') AS month, category, sum(price * qty) AS revenue, count(*) AS n FROM db.sales GROUP BY 1, 2 ORDER BY 1, 2;

-- growth on the month before
WITH m AS (SELECT trunc(day, 'MM') AS month, sum(qty * price) AS revenue FROM db.sales GROUP BY trunc(day, 'MM'))
SELECT month, revenue, lag(revenue) OVER (ORDER BY month) AS before,
  round(100.0 * (revenue - lag(revenue) OVER (ORDER BY month)) / lag(revenue) OVER (ORDER BY month), 2) AS growth FROM m ORDER BY month;

-- share of total
SELECT category, sum(qty) AS q, round(sum(qty) * 100.0 / sum(sum(qty)) OVER (), 1) AS pct FROM db.sales GROUP BY category ORDER BY q DESC;

-- top three per group
SELECT * FROM (SELECT category, product, sum(qty) AS q, rank() OVER (PARTITION BY category ORDER BY sum(qty) DESC) AS r
  FROM db.sales GROUP BY category, product) x WHERE r <= 3 ORDER BY category, r, product;

-- moving average over seven rows
SELECT day, qty, avg(qty) OVER (ORDER BY day, product, store, qty, price ROWS BETWEEN 6 PRECEDING AND CURRENT ROW) AS ma FROM db.sales WHERE store = 'N';

-- running total per store
SELECT store, day, sum(qty) OVER (PARTITION BY store ORDER BY day) AS so_far FROM db.sales;

-- pivot by CASE
SELECT store, sum(CASE WHEN category = 'food' THEN qty ELSE 0 END) AS food, sum(CASE WHEN category = 'toys' THEN qty ELSE 0 END) AS toys FROM db.sales GROUP BY store ORDER BY store;

-- PIVOT
SELECT * FROM (SELECT store, category, qty FROM db.sales) PIVOT (sum(qty) FOR category IN ('food', 'toys', 'books')) ORDER BY store;

-- PIVOT with names
SELECT * FROM (SELECT store, category, qty FROM db.sales) PIVOT (sum(qty) AS total, count(*) AS n FOR category IN ('food' AS f, 'toys' AS t)) ORDER BY store;

-- UNPIVOT
SELECT * FROM (SELECT store, sum(qty) AS q, max(qty) AS m FROM db.sales GROUP BY store) UNPIVOT (value FOR what IN (q, m)) ORDER BY store, what;

-- median and quartiles
SELECT category, percentile(qty, 0.25) AS p25, median(qty) AS p50, percentile(qty, 0.75) AS p75 FROM db.sales GROUP BY category ORDER BY category;

-- percentile within group
SELECT percentile_cont(0.5) WITHIN GROUP (ORDER BY qty) AS med, percentile_disc(0.9) WITHIN GROUP (ORDER BY qty) AS p90 FROM db.sales;

-- histogram
SELECT floor(qty / 5) * 5 AS bucket, count(*) AS n FROM db.sales GROUP BY floor(qty / 5) ORDER BY bucket;

-- weekday pattern
SELECT dayofweek(day) AS d, date_format(day, 'EEEE') AS name, sum(qty) AS q FROM db.sales GROUP BY 1, 2 ORDER BY 1;

-- ISO week
SELECT weekofyear(day) AS w, count(*) FROM db.sales WHERE year(day) = 2025 GROUP BY weekofyear(day) ORDER BY w;

-- extract parts
SELECT extract(YEAR FROM day) AS y, extract(QUARTER FROM day) AS q, extract(WEEK FROM day) AS w, extract(DOW FROM day) AS dow, date_part('month', day) AS m FROM db.sales;

-- last thirty days of the data
SELECT store, sum(qty) FROM db.sales WHERE day >= (SELECT max(day) FROM db.sales) - INTERVAL 30 DAYS GROUP BY store ORDER BY store;

-- date_sub of a subquery
SELECT count(*) FROM db.sales WHERE day > date_sub((SELECT max(day) FROM db.sales), 60);

-- make_date
SELECT DISTINCT make_date(year(day), 1, 1) AS first FROM db.sales ORDER BY first;

-- months_between
SELECT name, months_between(DATE '2026-01-31', hired) AS months, floor(months_between(DATE '2026-01-31', hired) / 12) AS years FROM db.staff;

-- datediff with a unit
SELECT name, datediff(YEAR, hired, DATE '2026-01-31') AS y, datediff(MONTH, hired, DATE '2026-01-31') AS m, datediff(DAY, hired, DATE '2026-01-31') AS d FROM db.staff;

-- dateadd with a unit
SELECT dateadd(DAY, 3, hired), dateadd(MONTH, 1, hired), dateadd(YEAR, -1, hired) FROM db.staff;

-- next_day
SELECT next_day(hired, 'MON'), last_day(hired), add_months(hired, 6) FROM db.staff;

-- to_date with a format
SELECT to_date('31.01.2026', 'dd.MM.yyyy') AS d, to_date('20260131', 'yyyyMMdd') AS e, to_timestamp('2026-01-31 10:11:12') AS t;

-- unix time
SELECT id, unix_timestamp(at) AS u, to_timestamp('2026-01-01 00:00:00') AS t FROM db.events;

-- from_unixtime
SELECT id, from_unixtime(1700000000 + id) AS t, from_unixtime(1700000000, 'yyyy-MM-dd') AS d FROM db.events;

-- events per hour
SELECT date_trunc('HOUR', at) AS h, count(*) AS n FROM db.events GROUP BY 1 ORDER BY 1;

-- parts of an instant
SELECT id, hour(at), minute(at), second(at), year(at), month(at), date(at) AS d, to_date(at) AS e FROM db.events;

-- instants compared with text
SELECT count(*) FROM db.events WHERE at >= '2026-02-01' AND at < TIMESTAMP '2026-03-01 00:00:00';

-- instants between
SELECT id FROM db.events WHERE at BETWEEN '2026-01-10 00:00:00' AND '2026-01-20 00:00:00' ORDER BY id;

-- instants minus interval
SELECT id, at - INTERVAL 1 HOUR AS before, at + INTERVAL 1 DAY AS after FROM db.events;

-- instants formatted
SELECT id, date_format(at, 'yyyy-MM-dd HH:mm:ss') AS t, CAST(at AS STRING) AS s, CAST(at AS DATE) AS d FROM db.events;

-- difference of instants in seconds
SELECT user, id, unix_timestamp(at) - lag(unix_timestamp(at)) OVER (PARTITION BY user ORDER BY at, id) AS gap FROM db.events;

-- sessions of thirty minutes
WITH g AS (SELECT user, at, id, CASE WHEN unix_timestamp(at) - unix_timestamp(lag(at) OVER (PARTITION BY user ORDER BY at, id)) > 1800 THEN 1 ELSE 0 END AS fresh FROM db.events)
SELECT user, id, sum(fresh) OVER (PARTITION BY user ORDER BY at, id) AS session FROM g;

-- daily active users
SELECT day, count(DISTINCT user) AS dau FROM db.events GROUP BY day ORDER BY day;

-- first purchase of each user
SELECT user, min(day) AS first FROM db.events WHERE kind = 'buy' GROUP BY user ORDER BY user;

-- retention
WITH f AS (SELECT user, min(day) AS start FROM db.events GROUP BY user)
SELECT f.start, datediff(e.day, f.start) AS after, count(DISTINCT e.user) AS users FROM db.events e JOIN f ON e.user = f.user GROUP BY 1, 2 ORDER BY 1, 2;

-- funnel
SELECT count(DISTINCT CASE WHEN kind = 'view' THEN user END) AS v, count(DISTINCT CASE WHEN kind = 'click' THEN user END) AS c, count(DISTINCT CASE WHEN kind = 'buy' THEN user END) AS b FROM db.events;

-- field of JSON
SELECT id, get_json_object(payload, '$.page') AS page, get_json_object(payload, '$.user.name') AS name FROM db.events;

-- number of JSON
SELECT get_json_object(payload, '$.page') AS page, avg(CAST(get_json_object(payload, '$.ms') AS INT)) AS ms FROM db.events GROUP BY 1 ORDER BY 1;

-- JSON by colon
SELECT get_json_object(payload, '$.user.vip') AS vip, count(*) FROM db.events GROUP BY 1 ORDER BY 1;

-- field of a struct
SELECT id, place.city, place.zip AS zip FROM db.events ORDER BY id;

-- deep field of a struct
SELECT place.city AS city, max(place.geo.lat) AS lat FROM db.events GROUP BY place.city ORDER BY city;

-- condition on a field
SELECT count(*) FROM db.events e WHERE e.place.city = 'Oslo' AND e.place.zip IS NOT NULL;

-- struct as a column
SELECT id, place FROM db.events WHERE id < 20 ORDER BY id;

-- tags exploded
SELECT tag, count(*) AS n FROM db.events LATERAL VIEW explode(tags) t AS tag GROUP BY tag ORDER BY tag;

-- array functions
SELECT id, size(tags), array_contains(tags, 'red') AS red, array_distinct(tags) AS d, array_max(tags) AS m, array_min(tags) AS n, element_at(tags, 1) AS first FROM db.events WHERE size(tags) > 0;

-- array of literals
SELECT array(1, 2, 3) AS a, array_position(array('a', 'b'), 'b') AS p, sort_array(array(3, 1, 2)) AS s, concat(array(1), array(2)) AS c;

-- slices of arrays
SELECT slice(array(1, 2, 3, 4), 2, 2) AS s, array_union(array(1, 2), array(2, 3)) AS u, array_intersect(array(1, 2), array(2, 3)) AS i, array_except(array(1, 2), array(2)) AS e;

-- transform and filter
SELECT id, transform(tags, x -> upper(x)) AS u, filter(tags, x -> x <> 'red') AS f, exists(tags, x -> x = 'blue') AS e FROM db.events;

-- aggregate of an array
SELECT aggregate(array(1, 2, 3), 0, (acc, x) -> acc + x) AS s;

-- map values
SELECT id, props['a'] AS a, map_keys(props) AS k, map_values(props) AS v FROM db.events;

-- sequence of days
SELECT explode(sequence(DATE '2026-01-01', DATE '2026-01-10', INTERVAL 1 DAY)) AS day;

-- calendar joined to facts
WITH c AS (SELECT explode(sequence(DATE '2026-01-01', DATE '2026-01-31')) AS day)
SELECT c.day, count(e.id) AS n FROM c LEFT JOIN db.events e ON c.day = e.day GROUP BY c.day ORDER BY c.day;

-- list of names
SELECT dept, concat_ws(', ', sort_array(collect_list(name))) AS names FROM db.staff GROUP BY dept ORDER BY dept;

-- listagg
SELECT dept, listagg(name, ', ') WITHIN GROUP (ORDER BY name) AS names FROM db.staff GROUP BY dept ORDER BY dept;

-- string functions
SELECT upper(name), lower(name), initcap(lower(name)), reverse(name), length(name), substring_index(name, ' ', 1), split(name, ' ')[1], split_part(name, ' ', 2) FROM db.staff;

-- padding
SELECT lpad(CAST(id AS STRING), 5, '0'), rpad(name, 12, '.'), repeat('*', 3), ascii(name), chr(65) FROM db.staff;

-- substring from the end
SELECT substring(name, -3), substring(name, -3, 2), left(name, 2), right(name, 2), substr(name, 2, 3), substring(name FROM 2 FOR 3) FROM db.staff;

-- translate and trim
SELECT translate(name, 'abc', 'xyz'), trim(BOTH 'A' FROM name), trim(LEADING 'A' FROM name), btrim(concat(' ', name, ' ')), position('e' IN name), overlay(name, 'xx', 2) FROM db.staff;

-- case-blind search
SELECT name FROM db.staff WHERE name ILIKE 'ann%' OR lower(name) LIKE '%fox' ORDER BY name;

-- LIKE ANY
SELECT name FROM db.staff WHERE name LIKE ANY ('Ann%', '%Fox') ORDER BY name;

-- regular expressions
SELECT mail, regexp_extract(mail, '^P(\\d+)@', 1) AS n, regexp_replace(mail, '@.*', '') AS who, regexp_count(mail, 'e') AS e FROM db.staff WHERE mail RLIKE '^P[0-9]+@';

-- domain of a mail
SELECT lower(split(mail, '@')[1]) AS domain, count(*) FROM db.staff WHERE mail IS NOT NULL GROUP BY 1;

-- format numbers
SELECT format_number(salary, 2) AS s, format_number(id, 1) AS t FROM db.staff;

-- hashes
SELECT md5(name), sha1(name), sha2(name, 256), hex(255), hex('ab'), base64('ab') FROM db.staff;

-- bits and bases
SELECT 5 & 3 AS a, 5 | 3 AS o, 5 ^ 3 AS x, ~5 AS n, bit_count(7) AS c;

-- rounding
SELECT round(salary, -3), ceil(salary / 1000), floor(-1.5), round(2.5) FROM db.staff;

-- rounding with names
SELECT round(salary, -3) AS r, ceil(salary) AS c, floor(-1.5) AS f, round(2.5) AS h FROM db.staff;

-- mathematics
SELECT sin(1), cos(1), tan(1), atan2(1, 2), degrees(pi()), radians(180), cbrt(27), exp(1), factorial(5), pmod(-7, 3), rint(2.5), e();

-- safe division
SELECT try_divide(qty, 0) AS a, nullif(qty, 0) AS b, qty / nullif(0, 0) AS c, try_add(qty, 1) AS d FROM db.sales;

-- nulls
SELECT coalesce(dept, 'none') AS d, nvl(dept, 'x'), ifnull(boss, 0), nvl2(boss, 'has', 'none') AS h, isnull(boss), zeroifnull(boss) AS z FROM db.staff;

-- decode and if
SELECT decode(dept, 'it', 'tech', 'hr', 'people', 'other') AS d, if(boss IS NULL, 'top', 'not') AS t FROM db.staff;

-- decode alone
SELECT decode(dept, 'it', 'tech', 'hr', 'people', 'other') AS d, count(*) FROM db.staff GROUP BY 1 ORDER BY 1;

-- salary above the department's mean
SELECT name, dept, salary FROM db.staff s WHERE salary > (SELECT avg(salary) FROM db.staff x WHERE x.dept = s.dept) ORDER BY salary DESC;

-- second highest salary
SELECT max(salary) FROM db.staff WHERE salary < (SELECT max(salary) FROM db.staff);

-- dense rank of salary
SELECT name, salary, dense_rank() OVER (ORDER BY salary DESC) AS r, percent_rank() OVER (ORDER BY salary) AS p, cume_dist() OVER (ORDER BY salary) AS c, ntile(4) OVER (ORDER BY salary, id) AS q FROM db.staff;

-- boss and staff
SELECT s.name, b.name AS boss FROM db.staff s LEFT JOIN db.staff b ON s.boss = b.id ORDER BY s.id;

-- numbers without a table
SELECT * FROM range(5);

-- numbers as a table
SELECT id * 2 AS x FROM range(1, 10, 3);

-- values as a table
SELECT * FROM VALUES (1, 'a'), (2, 'b') AS t(id, name) WHERE id > 1;

-- star without a column
SELECT * EXCEPT (mail) FROM db.staff ORDER BY id LIMIT 5;

-- rollup with grouping
SELECT store, category, grouping(store) AS g, sum(qty) AS q FROM db.sales GROUP BY ROLLUP(store, category) ORDER BY store, category;

-- grouping id
SELECT store, category, grouping_id(store, category) AS g, sum(qty) AS q FROM db.sales GROUP BY CUBE(store, category) ORDER BY 3, 1, 2;

-- having and order by aggregate
SELECT product, sum(qty) FROM db.sales GROUP BY product HAVING sum(qty) > 100 ORDER BY sum(qty) DESC, product;

-- distinct pairs
SELECT DISTINCT store, category FROM db.sales ORDER BY store, category;

-- exact count distinct
SELECT count(DISTINCT store, category) AS n, count(DISTINCT product) AS a FROM db.sales;

-- statistics
SELECT avg(qty), stddev(qty), variance(qty), corr(qty, discount), covar_pop(qty, discount) FROM db.sales;

-- first and last value
SELECT DISTINCT store, first_value(product) OVER (PARTITION BY store ORDER BY day, product, qty, price) AS f, last_value(product) OVER (PARTITION BY store ORDER BY day, product, qty, price ROWS BETWEEN UNBOUNDED PRECEDING AND UNBOUNDED FOLLOWING) AS l FROM db.sales;

-- last value that is not null
SELECT id, last_value(amount) IGNORE NULLS OVER (ORDER BY id) AS a, last(score, true) OVER (ORDER BY id) AS s FROM db.events;

-- nth value
SELECT store, nth_value(qty, 2) OVER (PARTITION BY store ORDER BY day, product, qty, price) AS second FROM db.sales;

-- window over a range of days
SELECT day, sum(qty) OVER (ORDER BY day RANGE BETWEEN INTERVAL 7 DAYS PRECEDING AND CURRENT ROW) AS week FROM db.sales;

-- named window
SELECT id, rank() OVER w, sum(salary) OVER w FROM db.staff WINDOW w AS (PARTITION BY dept ORDER BY salary, id);

-- latest row of each user
SELECT * FROM (SELECT id, user, kind, row_number() OVER (PARTITION BY user ORDER BY at DESC, id DESC) AS rn FROM db.events) WHERE rn = 1 ORDER BY user;

-- latest row by QUALIFY
SELECT id, user, kind FROM db.events QUALIFY row_number() OVER (PARTITION BY user ORDER BY at DESC, id DESC) = 1 ORDER BY user;

-- latest value by max_by
SELECT user, max_by(kind, at) AS last FROM db.events GROUP BY user ORDER BY user;

-- duplicates
SELECT user, kind, day, count(*) AS n FROM db.events GROUP BY ALL HAVING count(*) > 1 ORDER BY ALL;

-- order by all
SELECT store, category FROM db.sales GROUP BY store, category ORDER BY ALL;

-- anti join
SELECT c_name FROM db.customer c WHERE NOT EXISTS (SELECT 1 FROM db.orders o WHERE o.o_custkey = c.c_custkey) ORDER BY c_name;

-- not in
SELECT c_custkey FROM db.customer WHERE c_custkey NOT IN (SELECT o_custkey FROM db.orders) ORDER BY c_custkey;

-- in having
SELECT o_custkey, count(*) AS n FROM db.orders GROUP BY o_custkey HAVING count(*) >= (SELECT avg(n) FROM (SELECT count(*) AS n FROM db.orders GROUP BY o_custkey)) ORDER BY n DESC, 1;

-- natural join
SELECT count(*) FROM db.orders JOIN db.customer ON o_custkey = c_custkey JOIN db.nation ON c_nationkey = n_nationkey JOIN db.region ON n_regionkey = r_regionkey WHERE r_name = 'ASIA';

-- using
SELECT id, count(*) FROM db.staff JOIN db.events USING (id) GROUP BY id ORDER BY id;

-- lateral subquery
SELECT n_name, t.c_name FROM db.nation, LATERAL (SELECT c_name FROM db.customer WHERE c_nationkey = n_nationkey ORDER BY c_acctbal DESC LIMIT 1) t ORDER BY n_name;

-- lateral column alias
SELECT qty * price AS gross, gross * 2 AS twice FROM db.sales;

-- union of two periods
SELECT 'a' AS period, sum(qty) AS q FROM db.sales WHERE day < '2025-07-01' UNION ALL SELECT 'b', sum(qty) FROM db.sales WHERE day >= '2025-07-01';

-- year over year
SELECT a.m, a.q AS this, b.q AS last FROM (SELECT month(day) AS m, sum(qty) AS q FROM db.sales WHERE year(day) = 2026 GROUP BY 1) a
JOIN (SELECT month(day) AS m, sum(qty) AS q FROM db.sales WHERE year(day) = 2025 GROUP BY 1) b ON a.m = b.m ORDER BY a.m;

-- year to date
SELECT month, sum(q) OVER (PARTITION BY y ORDER BY month) AS ytd FROM (SELECT year(day) AS y, trunc(day, 'MM') AS month, sum(qty) AS q FROM db.sales GROUP BY 1, 2) ORDER BY month;

-- cumulative share (ABC)
WITH p AS (SELECT product, sum(qty * price) AS r FROM db.sales GROUP BY product)
SELECT product, r, CASE WHEN sum(r) OVER (ORDER BY r DESC, product) / sum(r) OVER () <= 0.8 THEN 'A' ELSE 'B' END AS class FROM p ORDER BY r DESC;

-- gaps of ids
SELECT id + 1 AS missing FROM db.events e WHERE NOT EXISTS (SELECT 1 FROM db.events x WHERE x.id = e.id + 1) ORDER BY 1;

-- islands of days
WITH d AS (SELECT DISTINCT day FROM db.events), g AS (SELECT day, date_sub(day, CAST(row_number() OVER (ORDER BY day) AS INT)) AS grp FROM d)
SELECT min(day) AS first, max(day) AS last, count(*) AS days FROM g GROUP BY grp ORDER BY first;

-- text to number
SELECT CAST('12' AS INT) + 1 AS a, '3' + 4 AS b, double('2.5') AS d, int('7') AS e, string(5) AS f;

-- text compared with a number
SELECT count(*) FROM db.staff WHERE id = '3';

-- number as text
SELECT CAST(score AS STRING) AS s FROM db.events;

-- boolean sums
SELECT sum(CAST(ok AS INT)) AS yes, avg(CASE WHEN ok THEN 1.0 ELSE 0.0 END) AS share, count_if(ok) AS n, bool_and(ok) AS every FROM db.events;

-- filtered aggregates
SELECT user, count(*) FILTER (WHERE kind = 'buy') AS buys, sum(amount) FILTER (WHERE kind = 'buy') AS spent FROM db.events GROUP BY user ORDER BY user;

-- sum of doubles rounded
SELECT store, round(sum(qty * price * (1 - discount)), 2) AS net FROM db.sales GROUP BY store ORDER BY store;

-- limit with offset
SELECT id, name FROM db.staff ORDER BY id LIMIT 5 OFFSET 10;

-- between columns
SELECT count(*) FROM db.lineitem WHERE l_shipdate BETWEEN l_commitdate AND l_receiptdate;

-- delivery days and the longest
SELECT l_shipmode, avg(datediff(l_receiptdate, l_shipdate)) AS days, max(l_receiptdate - l_shipdate) AS longest FROM db.lineitem GROUP BY l_shipmode ORDER BY l_shipmode;

-- delivery days without intervals
SELECT l_shipmode, avg(datediff(l_receiptdate, l_shipdate)) AS days FROM db.lineitem GROUP BY l_shipmode ORDER BY l_shipmode;

-- weighted mean
SELECT sum(l_quantity * l_extendedprice) / sum(l_quantity) AS mean, sum(l_discount * l_quantity) / nullif(sum(l_quantity), 0) AS d FROM db.lineitem;

-- margin
SELECT p_brand, sum(l_extendedprice * (1 - l_discount) - ps_supplycost * l_quantity) AS margin,
  sum(l_extendedprice * (1 - l_discount)) / count(DISTINCT l_orderkey) AS per_order
FROM db.lineitem JOIN db.part ON p_partkey = l_partkey JOIN db.partsupp ON ps_partkey = l_partkey AND ps_suppkey = l_suppkey GROUP BY p_brand ORDER BY p_brand;

-- orders per status as shares
SELECT o_orderstatus, count(*) / (SELECT count(*) FROM db.orders) AS share FROM db.orders GROUP BY o_orderstatus ORDER BY o_orderstatus;

-- ratio of two sums
SELECT round(sum(CASE WHEN o_orderpriority = '1-URGENT' THEN o_totalprice ELSE 0 END) / sum(o_totalprice), 4) AS urgent FROM db.orders;

-- average of an expression
SELECT o_orderpriority, avg(o_totalprice) AS mean, avg(o_totalprice * 2) AS twice, round(avg(o_totalprice), 2) AS r FROM db.orders GROUP BY 1 ORDER BY 1;

-- months of days that a file left as texts
SELECT month(d) AS m, count(*) AS n FROM (SELECT date_format(day, 'yyyy-MM-dd') AS d FROM db.sales) x GROUP BY month(d) ORDER BY m;

-- inline struct
SELECT named_struct('a', 1, 'b', 'x') AS s, struct(1, 2) AS t, map('k', 1) AS m;

-- numbers and days as texts
SELECT lpad(id, 6, '0') AS number, left(day, 7) AS month, count(*) AS n FROM db.events WHERE id LIKE '1%' GROUP BY 1, 2 ORDER BY 1;

-- places of arrays
SELECT id, get(tags, 0) AS first, array_remove(tags, 'red') AS others, arrays_overlap(tags, array('red', 'blue')) AS is_bright FROM db.events ORDER BY id LIMIT 9;

-- printed
SELECT format_string('%s bought %d', user, count(*)) AS said FROM db.events WHERE at >= TIMESTAMP '2026-01-05 00:00:00' GROUP BY user ORDER BY 1;

-- parts of a day in small letters, and the middle of prices
SELECT extract(week FROM max(day)), extract(Year FROM max(day)), percentile(CAST(qty AS DECIMAL(9, 2)), 0.3) AS p FROM db.sales;

-- hashes of rows
SELECT hash(name, mail), xxhash64(name) FROM db.staff;

-- shape of a distribution
SELECT store, skewness(qty), kurtosis(qty), mode(category, true) FROM db.sales GROUP BY store;

-- windows of time
SELECT window(at, '10 minutes') AS w, count(*) FROM db.events GROUP BY window(at, '10 minutes');

-- windows of time that overlap
SELECT window.start, kind, count(*) AS n FROM db.events GROUP BY window(ts, '1 day', '6 hours'), kind ORDER BY window.start, kind;

-- hash of whole rows
SELECT hash(*) FROM db.staff;

-- mode
SELECT mode(store) FROM (SELECT 'a' AS store UNION ALL SELECT 'a' UNION ALL SELECT 'b');

-- from_json
SELECT from_json('{"a": 1}', 'a INT') AS j, from_json('{"a": 1}', 'a INT').a AS a;

-- to_json with fractions
SELECT id, to_json(place) AS j FROM db.events;

-- time zone
SELECT id, from_utc_timestamp(at, 'Europe/Berlin') AS b, to_utc_timestamp(ts, 'Europe/Berlin') AS u FROM db.events;

-- length of a vector
SELECT hypot(3, 4);
