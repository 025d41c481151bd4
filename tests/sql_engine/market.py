"""Tables of a small market, in the shape of TPC-H, and what a web shop knows of it."""

from __future__ import annotations

import json
import random
from collections.abc import Callable, Sequence
from datetime import UTC, date, datetime, timedelta
from decimal import Decimal
from functools import partial
from typing import Any

import pyarrow as pa

_MONEY = pa.decimal128(15, 2)
_NATIONS = (
    ("ALGERIA", 0), ("ARGENTINA", 1), ("BRAZIL", 1), ("CANADA", 1), ("EGYPT", 4), ("ETHIOPIA", 0),
    ("FRANCE", 3), ("GERMANY", 3), ("INDIA", 2), ("INDONESIA", 2), ("IRAN", 4), ("IRAQ", 4),
    ("JAPAN", 2), ("JORDAN", 4), ("KENYA", 0), ("MOROCCO", 0), ("MOZAMBIQUE", 0), ("PERU", 1),
    ("CHINA", 2), ("ROMANIA", 3), ("SAUDI ARABIA", 4), ("VIETNAM", 2), ("RUSSIA", 3),
    ("UNITED KINGDOM", 3), ("UNITED STATES", 1),
)  # fmt: skip
_REGIONS = ("AFRICA", "AMERICA", "ASIA", "EUROPE", "MIDDLE EAST")
_SEGMENTS = ("AUTOMOBILE", "BUILDING", "FURNITURE", "HOUSEHOLD", "MACHINERY")
_PRIORITIES = ("1-URGENT", "2-HIGH", "3-MEDIUM", "4-NOT SPECIFIED", "5-LOW")
_MODES = ("REG AIR", "AIR", "RAIL", "SHIP", "TRUCK", "MAIL", "FOB", "AIR REG")
_COLOURS = ("almond", "azure", "forest", "green", "lime", "navy", "olive", "peach", "puff", "rose")
_TYPES = ("STANDARD", "SMALL", "MEDIUM", "LARGE", "ECONOMY", "PROMO")
_FINISHES = ("ANODIZED", "BURNISHED", "PLATED", "POLISHED", "BRUSHED")
_METALS = ("TIN", "NICKEL", "BRASS", "STEEL", "COPPER")
_CONTAINERS = ("SM CASE", "SM BOX", "SM PACK", "SM PKG", "MED BAG", "MED BOX", "MED PKG",
               "MED PACK", "LG CASE", "LG BOX", "LG PACK", "LG PKG", "JUMBO PKG")  # fmt: skip
_WORDS = ("special", "requests", "pending", "deposits", "Customer", "Complaints", "carefully",
          "final", "ideas", "quickly")  # fmt: skip
PARTS, SUPPLIERS, CUSTOMERS, ORDERS = 200, 25, 150, 1500


def market(seed: int = 1) -> dict[str, pa.Table]:
    """Make all tables, by name."""
    rng = random.Random(seed)
    return {**_parts(rng), **_orders(rng), **_shop(rng)}


def _money(rng: random.Random, low: int, high: int) -> Decimal:
    return Decimal(rng.randint(low, high)) / 100


def _words(rng: random.Random) -> str:
    return " ".join(rng.choices(_WORDS, k=6))


def _table(rows: Sequence[Sequence[Any]], **types: pa.DataType) -> pa.Table:
    columns = zip(*rows, strict=True)
    return pa.table(
        {
            name: pa.array(column, kind)
            for (name, kind), column in zip(types.items(), columns, strict=True)
        }
    )


def _phone(rng: random.Random, nation: int) -> str:
    return (
        f"{nation + 10}-{rng.randint(100, 999)}-{rng.randint(100, 999)}-{rng.randint(1000, 9999)}"
    )


def _parts(rng: random.Random) -> dict[str, pa.Table]:
    text, key, whole = pa.string(), pa.int64(), pa.int32()
    nation = [(n, name, region, _words(rng)) for n, (name, region) in enumerate(_NATIONS)]
    supplier = [
        (n, f"Supplier#{n:09d}", f"street {n}", n % 25, _phone(rng, n % 25),
         _money(rng, -99999, 999999), _words(rng))
        for n in range(1, SUPPLIERS + 1)
    ]  # fmt: skip
    part = [
        (
            n,
            " ".join(rng.sample(_COLOURS, 5)),
            f"Manufacturer#{rng.randint(1, 5)}",
            f"Brand#{rng.randint(1, 5)}{rng.randint(1, 5)}",
            f"{rng.choice(_TYPES)} {rng.choice(_FINISHES)} {rng.choice(_METALS)}",
            rng.randint(1, 50),
            rng.choice(_CONTAINERS),
            _money(rng, 90000, 200000),
            _words(rng),
        )
        for n in range(1, PARTS + 1)
    ]
    supplied = [
        (n, supplier_key, rng.randint(1, 9999), _money(rng, 100, 100000), _words(rng))
        for n in range(1, PARTS + 1)
        for supplier_key in rng.sample(range(1, SUPPLIERS + 1), 4)
    ]
    return {
        "region": _table(
            [(n, name, _words(rng)) for n, name in enumerate(_REGIONS)],
            r_regionkey=key, r_name=text, r_comment=text,
        ),
        "nation": _table(nation, n_nationkey=key, n_name=text, n_regionkey=key, n_comment=text),
        "supplier": _table(
            supplier, s_suppkey=key, s_name=text, s_address=text, s_nationkey=key, s_phone=text,
            s_acctbal=_MONEY, s_comment=text,
        ),
        "part": _table(
            part, p_partkey=key, p_name=text, p_mfgr=text, p_brand=text, p_type=text,
            p_size=whole, p_container=text, p_retailprice=_MONEY, p_comment=text,
        ),
        "partsupp": _table(
            supplied, ps_partkey=key, ps_suppkey=key, ps_availqty=whole, ps_supplycost=_MONEY,
            ps_comment=text,
        ),
    }  # fmt: skip


def _orders(rng: random.Random) -> dict[str, pa.Table]:
    text, key, whole, day = pa.string(), pa.int64(), pa.int32(), pa.date32()
    customer = [
        (n, f"Customer#{n:09d}", f"street {n}", n % 25, _phone(rng, n % 25),
         _money(rng, -99999, 999999), rng.choice(_SEGMENTS), _words(rng))
        for n in range(1, CUSTOMERS + 1)
    ]  # fmt: skip
    orders, lines = [], []
    for n in range(1, ORDERS + 1):
        ordered = date(1992, 1, 1) + timedelta(rng.randint(0, 2400))
        owned = []
        many = rng.random() < 0.03
        for line in range(1, 8 if many else rng.randint(1, 7) + 1):
            shipped = ordered + timedelta(rng.randint(1, 121))
            promised = ordered + timedelta(rng.randint(30, 90))
            received = shipped + timedelta(rng.randint(1, 30))
            quantity = 48 if many else rng.randint(1, 50)
            old = received <= date(1995, 6, 17)
            owned.append(
                (n, rng.randint(1, PARTS), rng.randint(1, SUPPLIERS), line, Decimal(quantity),
                 _money(rng, 90000, 9000000), Decimal(rng.randint(0, 10)) / 100,
                 Decimal(rng.randint(0, 8)) / 100, rng.choice("RA") if old else "N",
                 "O" if shipped > date(1995, 6, 17) else "F", shipped, promised, received,
                 rng.choice(("DELIVER IN PERSON", "COLLECT COD", "NONE", "TAKE BACK RETURN")),
                 rng.choice(_MODES), _words(rng))
            )  # fmt: skip
        lines += owned
        states = {one[9] for one in owned}
        state = states.pop() if len(states) == 1 else "P"
        orders.append(
            (n, rng.randrange(1, CUSTOMERS, 3) + rng.randint(0, 1), state,
             sum((one[5] for one in owned), Decimal(0)), ordered, rng.choice(_PRIORITIES),
             f"Clerk#{rng.randint(1, 9):09d}", 0, _words(rng))
        )  # fmt: skip
    return {
        "customer": _table(
            customer, c_custkey=key, c_name=text, c_address=text, c_nationkey=key, c_phone=text,
            c_acctbal=_MONEY, c_mktsegment=text, c_comment=text,
        ),
        "orders": _table(
            orders, o_orderkey=key, o_custkey=key, o_orderstatus=text, o_totalprice=_MONEY,
            o_orderdate=day, o_orderpriority=text, o_clerk=text, o_shippriority=whole,
            o_comment=text,
        ),
        "lineitem": _table(
            lines, l_orderkey=key, l_partkey=key, l_suppkey=key, l_linenumber=whole,
            l_quantity=_MONEY, l_extendedprice=_MONEY, l_discount=_MONEY, l_tax=_MONEY,
            l_returnflag=text, l_linestatus=text, l_shipdate=day, l_commitdate=day,
            l_receiptdate=day, l_shipinstruct=text, l_shipmode=text, l_comment=text,
        ),
    }  # fmt: skip


def _shop(rng: random.Random) -> dict[str, pa.Table]:
    def some(make: Callable[[], Any]) -> Any:
        return None if rng.random() < 0.12 else make()

    def sometimes(value: Any) -> Any:
        return None if rng.random() < 0.12 else value

    text = pa.string()
    begin = datetime(2026, 1, 1)
    events = []
    for n in range(300):
        at = begin + timedelta(seconds=rng.randint(0, 90 * 86400), milliseconds=rng.randint(0, 999))
        page = {"page": rng.choice(["home", "cart", "item"]), "ms": rng.randint(1, 900),
                "tags": rng.sample(["a", "b", "c"], rng.randint(0, 3)),
                "user": {"name": rng.choice("AB"), "vip": bool(rng.getrandbits(1))}}  # fmt: skip
        city = {"city": rng.choice(["Oslo", "Rome", "Zürich"]), "zip": some(lambda: "0123"),
                "geo": {"lat": rng.randint(-900, 900) / 10, "lon": 1.5}}  # fmt: skip
        events.append(
            (n, f"user{rng.randint(1, 20)}", rng.choice(["view", "buy", "click"]), sometimes(at),
             at.replace(tzinfo=UTC), at.date(), some(lambda: _money(rng, -500, 50000)),
             sometimes(json.dumps(page)), sometimes(city),
             some(lambda: rng.choices(["red", "blue", "green"], k=rng.randint(0, 3))),
             some(lambda: [(k, str(rng.randint(1, 9))) for k in rng.sample("abc", 2)]),
             some(lambda: rng.randint(-40, 40) / 8), some(lambda: rng.random() < 0.5))
        )  # fmt: skip
    place = pa.struct(
        [("city", text), ("zip", text),
         ("geo", pa.struct([("lat", pa.float64()), ("lon", pa.float64())]))]
    )  # fmt: skip
    sales = [
        (date(2025, 1, 1) + timedelta(rng.randint(0, 700)), rng.choice("NSEW"),
         f"product {rng.randint(1, 12)}", rng.choice(["food", "toys", "books"]),
         rng.randint(1, 20), _money(rng, 100, 9999), rng.choice([0.0, 0.1, 0.25]))
        for _ in range(400)
    ]  # fmt: skip
    staff = [
        (n, f"{rng.choice(['Ann', 'Bob', 'Cid', 'Eve'])} {rng.choice(['Lee', 'Ray', 'Fox'])}",
         None if n < 3 else rng.randint(1, n - 1), rng.choice(["it", "hr", "ops", None]),
         _money(rng, 300000, 900000), date(2015, 1, 1) + timedelta(rng.randint(0, 4000)),
         some(partial("P{}@Example.com".format, n)))
        for n in range(1, 41)
    ]  # fmt: skip
    return {
        "events": _table(
            events, id=pa.int64(), user=text, kind=text, ts=pa.timestamp("us"),
            at=pa.timestamp("us", "UTC"), day=pa.date32(), amount=pa.decimal128(12, 2),
            payload=text, place=place, tags=pa.list_(text), props=pa.map_(text, text),
            score=pa.float64(), ok=pa.bool_(),
        ),
        "sales": _table(
            sales, day=pa.date32(), store=text, product=text, category=text, qty=pa.int32(),
            price=pa.decimal128(10, 2), discount=pa.float64(),
        ),
        "staff": _table(
            staff, id=pa.int32(), name=text, boss=pa.int32(), dept=text,
            salary=pa.decimal128(10, 2), hired=pa.date32(), mail=text,
        ),
    }  # fmt: skip
