-- What analysts write as well, and is refused without Spark, by name.

-- recursive hierarchy
WITH RECURSIVE h AS (SELECT id, name, 0 AS level FROM db.staff WHERE boss IS NULL UNION ALL SELECT s.id, s.name, h.level + 1 FROM db.staff s JOIN h ON s.boss = h.id)
SELECT level, count(*) AS n FROM h GROUP BY level ORDER BY level;

-- count distinct of several
SELECT count(DISTINCT store, category) AS n, approx_count_distinct(product) AS a FROM db.sales;

-- stack
SELECT stack(2, 'a', 1, 'b', 2) AS (k, v);

-- tablesample
SELECT count(*) >= 0 AS ok FROM db.events TABLESAMPLE (100 PERCENT);

-- uuid and random
SELECT length(uuid()) AS n, rand() < 1 AS r, length(cast(current_timestamp() AS STRING)) > 0 AS t;

-- numbers in a text
SELECT concat('score: ', score) FROM db.events;

-- text to decimal
SELECT CAST(mail AS DECIMAL(5, 2)) FROM db.staff;
