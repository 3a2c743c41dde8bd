# ruff: noqa: E501
"""The faults: each would weaken the promise, or hide that it is weaker, and each must be noticed by what is named."""

from __future__ import annotations

from mutants.fault import Fault
from mutants.java_faults import DRIVEN_FAULTS, JAVA_FAULTS

PROTOCOL, DEVICE, AUDIT = "src/ldptrace/protocol", "src/ldptrace/device", "src/ldptrace/audit"
_GENERATOR = "tests/protocol/test_vectors.py::test_the_generator_still_writes_these_files"
# The vectors as they are: writing them again with the fault in would show that something changed, not that it is wrong.
VECTORS = f"tests/protocol/test_vectors.py --deselect {_GENERATOR}"
SOURCE = "tests/device/test_source.py"
LEDGER = "tests/device/test_ledger.py tests/device/test_ledger_machine.py"
SUMS = "tests/protocol/test_shuffled.py -k ledgers"
REPORTER = "tests/device/test_reporter.py"
WINDOWS = "tests/device/test_windows.py"
STANDING = "tests/protocol/test_standing.py"
STORAGE = "tests/device/test_storage.py"
OWN = "tests/cli/test_own.py"
RECEIVE = "tests/curator/test_receive.py"
# The audit's own tests, and what it says of a device that is at fault: by part, so that a fault runs what should see it.
AUDITED_SOURCE, AUDITED_EXACT, AUDITED_STRUCTURE, AUDITED_ATTACKS, AUDITED_MARGINALS, AUDITED_VERDICT = (
    f"tests/audit/test_{part}.py"
    for part in ("source", "exact", "client", "black_box", "marginals", "verdict")
)

_RANDOM = f"{PROTOCOL}/randomness.py"
_REPORTER = f"{DEVICE}/reporter.py"
_LEDGER = f"{DEVICE}/ledger.py"
_BOOK = f"{DEVICE}/book.py"
_STORAGE = f"{DEVICE}/storage.py"
_STANDING = f"{PROTOCOL}/standing.py"
_TRACK = f"{DEVICE}/track.py"
_PLAN = f"{PROTOCOL}/plan.py"
_ROUND = f"{PROTOCOL}/round.py"
_OUE, _GRR, _PRIVSET = (f"{PROTOCOL}/randomizers/{name}.py" for name in ("oue", "grr", "privset"))
_RECEIVE = "src/ldptrace/curator/receive.py"

DRAWS = [
    Fault("below: a remainder instead of another draw", _RANDOM, "            if value < bound:\n                return value", "            return value % bound", VECTORS),
    Fault("below: one bit too few", _RANDOM, "size, mask = (bits + 7) // 8, (1 << bits) - 1\n        while True", "size, mask = (bits + 7) // 8, (1 << bits - 1) - 1\n        while True", VECTORS),
    Fault("flags: the limit itself counts", _RANDOM, "else value < limit", "else value <= limit", "tests/protocol/randomizers"),
    Fault("flags: rejected draws count as no", _RANDOM, "            table.append(_AGAIN)", "            table.append(0)", "tests/protocol/randomizers " + VECTORS),
    Fault("subset: an entry can come twice", _RANDOM, "            moved[other] = moved.get(position, position)\n", "", VECTORS),
    Fault("positions: the first ones instead of random ones", f"{PROTOCOL}/questions/base.py", "[items[at] for at in source.subset(range(len(items)), most)]", "items[:most]", VECTORS),
    Fault("turns: always the first bend", f"{PROTOCOL}/questions/moves.py", "source.below(len(path) - 2)", "0", VECTORS),
    Fault("headings: two are swapped", f"{PROTOCOL}/lattice.py", "(3, 2, 1, 4, 0, 5, 6, 7)", "(3, 2, 1, 0, 4, 5, 6, 7)", VECTORS),
    Fault("headings: a quarter is off", f"{PROTOCOL}/lattice.py", "(3, 2, 1, 4, 0, 5, 6, 7)", "(3, 2, 1, 4, 0, 5, 7, 6)", VECTORS),
    Fault("lattice: a point on a border moves up", f"{PROTOCOL}/lattice.py", "value <= origin + step * (index - 1) + step", "value < origin + step * (index - 1) + step", VECTORS),
]  # fmt: skip

STREAM = [
    Fault("source: seeded", _REPORTER, "os.urandom(max(count - left, 512))", "__import__('random').Random(1).randbytes(max(count - left, 512))", SOURCE),
    Fault("source: seeded, seen by the audit", _REPORTER, "os.urandom(max(count - left, 512))", "__import__('random').Random(os.getpid()).randbytes(max(count - left, 512))", AUDITED_SOURCE),
    Fault("source: a block that repeats", _REPORTER, "os.urandom(max(count - left, 512))", "os.urandom(8) * (max(count - left, 512) // 8 + 1)", SOURCE),
    Fault("source: a block that repeats, seen by the audit", _REPORTER, "os.urandom(max(count - left, 512))", "os.urandom(8) * (max(count - left, 512) // 8 + 1)", AUDITED_SOURCE),
    Fault("source: zeros after 64 bytes", _REPORTER, "os.urandom(max(count - left, 512))", "os.urandom(64).ljust(max(count - left, 512), b'\\0')", SOURCE),
    Fault("source: zeros after 64 bytes, seen by the audit", _REPORTER, "os.urandom(max(count - left, 512))", "os.urandom(64).ljust(max(count - left, 512), b'\\0')", AUDITED_SOURCE),
    Fault("source: a buffer for all reports", _REPORTER, "Source(_ReadAhead())", "Source(self.__dict__.setdefault('kept', _ReadAhead()))", SOURCE),
    Fault("source: a buffer for all reports, seen by the audit", _REPORTER, "Source(_ReadAhead())", "Source(self.__dict__.setdefault('kept', _ReadAhead()))", AUDITED_SOURCE),
    Fault("source: leftovers are thrown away", _REPORTER, "self.data[self.position :] + os.urandom", "os.urandom", SOURCE),
    Fault("source: windows are seeded, seen by the audit", _REPORTER, "self.draw_about(occasion, 0, window=row.window)", "self.draw_about(occasion, 0, Source(__import__('random').Random(1).randbytes), window=row.window)", AUDITED_SOURCE),
    Fault("source: the id is not random", _REPORTER, "report_id = source.take(ID_BYTES)", "report_id = bytes(ID_BYTES)", VECTORS),
]  # fmt: skip

REPORTS = [
    Fault("report: the group looks at the path", _REPORTER, "group = _group(round_, source)", "group = _group(round_, source) if occasion.trip.path else 0", AUDITED_STRUCTURE),
    Fault("report: the last group is never drawn", _REPORTER, "drawn, group = source.below(SHARES), 0", "drawn, group = source.below(SHARES - 1), 0", VECTORS),
    Fault("report: sent without a delay", _REPORTER, "return Source().below(most + 1)", "return 0", REPORTER),
    Fault("report: no padding", _REPORTER, 'payload = payload.ljust(round_.payload_bytes, b"\\0")', "pass", REPORTER),
    Fault("report: empty slots are not sent", _REPORTER, "for items in slots if items or padded", "for items in slots if items", REPORTER + " " + VECTORS),
    Fault("report: the ledger is not asked", _REPORTER, "return fresh() if self.ledger is None else", "return fresh() if True else", LEDGER),
    Fault("refusal: a plan that leaks is answered", _REPORTER, "if not plan.is_private and not unpadded", "if False", REPORTER),
    Fault("refusal: only the newest round must be padded", _PLAN, "return all(round_.padded for round_ in self.rounds)", "return self.rounds[-1].padded", VECTORS),
    Fault("refusal: half of an id is enough", _REPORTER, "plan.id != plan_id:", "plan.id[:32] != plan_id[:32]:", REPORTER),
    Fault("refusal: other coordinates are answered", _REPORTER, "crs != plan.crs:", "False:", REPORTER),
    Fault("refusal: rounds before the first", _REPORTER, "if not 0 <= number <", "if not number <", REPORTER),
    Fault("answer: points that cannot be had are an error", _TRACK, "        return list(points)\n    except Exception:\n        return []", "        return list(points)\n    except Exception:\n        raise", REPORTER),
    Fault("answer: huge numbers are an error", _TRACK, "    except OverflowError:\n        return math.inf if value > 0 else -math.inf", "    except OverflowError:\n        raise ValueError", REPORTER),
    Fault("answer: what is no number is an error", _TRACK, "    except Exception:  # whatever it is, it is no number\n        return math.nan", "    except ZeroDivisionError:\n        return math.nan", REPORTER),
    Fault("answer: a file with nothing usable is an error", "src/ldptrace/cli/own.py", "        return Trips((), crs, reason=str(error))", "        raise", "tests/cli/test_collect.py"),
]  # fmt: skip

SHUFFLED_LEDGERS = [
    Fault(
        "sums: no second limit", _BOOK, "if spent.local + cost.local > limits.local_limit:", "if False:", SUMS
    ),
    Fault(
        "sums: the second limit cannot be reached",
        _BOOK,
        "if spent.local + cost.local > limits.local_limit:",
        "if spent.local + cost.local >= limits.local_limit:",
        SUMS,
    ),
    Fault("sums: deltas are free", _BOOK, "if spent.delta + cost.delta > MAX_DELTAS:", "if False:", SUMS),
    Fault(
        "sums: direct answers do not count in the second sum",
        _BOOK,
        "return Cost(plan.epsilon, Fraction(0), plan.epsilon)",
        "return Cost(plan.epsilon)",
        SUMS,
    ),
    Fault("sums: any eps0 of one answer", _BOOK, "plan.epsilon > self.limits.most_local:", "False:", SUMS),
    Fault(
        "sums: people who take no part answer",
        _BOOK,
        "if plan.shuffled is not None and not self.limits.shuffled:",
        "if False:",
        SUMS,
    ),
    Fault(
        "sums: a standing plan counts answer by answer",
        _BOOK,
        "total = given if self.total is None else",
        "total = given if True else",
        SUMS,
    ),
    Fault("sums: acceptance is not checked", _LEDGER, "            book.check(total)\n", "", SUMS),
    Fault(
        "sums: shuffled answers cost eps0",
        _BOOK,
        "return local if row.central is None else",
        "return local if True else",
        SUMS,
    ),
    Fault(
        "sums: the report is stored and sent unsealed",
        _REPORTER,
        "        if self.plan.shuffled is None:\n            return report\n",
        "        return report\n",
        "tests/device/test_reporter.py",
    ),
    Fault(
        "plan: a central epsilon is believed",
        f"{PROTOCOL}/shuffled.py",
        "> float(self.delta):",
        "> 1:",
        "tests/protocol/test_shuffled.py",
    ),
    Fault(
        "plan: forged reports hide, too",
        f"{PROTOCOL}/shuffled.py",
        "return int(self.honest * self.batch)",
        "return self.batch",
        "tests/protocol/test_shuffled.py",
    ),
]

LEDGERS = [
    Fault("ledger: forks are answered", _LEDGER, "if any(entry.plan not in plan.chain for entry in earlier):", "if False:", LEDGER),
    Fault("ledger: forks are answered, seen by the vectors", _LEDGER, "if any(entry.plan not in plan.chain for entry in earlier):", "if False:", VECTORS),
    Fault("ledger: half of an id is on the chain", _LEDGER, "entry.plan not in plan.chain for", "entry.plan[:32] not in [one[:32] for one in plan.chain] for", LEDGER),
    Fault("ledger: a retry under another plan", _LEDGER, "if entry.report is None or entry.plan != plan.id:", "if entry.report is None:", LEDGER),
    Fault("ledger: half of an id is a retry", _LEDGER, "entry.report is None or entry.plan != plan.id:", "entry.report is None or entry.plan[:32] != plan.id[:32]:", LEDGER),
    Fault("ledger: a fresh draw instead of a retry", _LEDGER, "                    return base64.b64decode(entry.report)\n", "                    return draw()\n", LEDGER),
    Fault("ledger: the limit cannot be reached", _BOOK, "if spent.central + cost.central > limits.limit:", "if spent.central + cost.central >= limits.limit:", LEDGER),
    Fault("ledger: no limit", _BOOK, "if spent.central + cost.central > limits.limit:", "if False:", LEDGER),
    Fault("ledger: everything is free", _LEDGER, "book.check(Cost() if earlier else Cost.of_answer(plan))", "book.check(Cost())", LEDGER),
    Fault("ledger: equal epsilons count once", _BOOK, "{entry.root: entry.cost for entry in self.entries}", "{entry.epsilon: entry.cost for entry in self.entries}", LEDGER),
    Fault("ledger: nothing is written", _LEDGER, "            self._write(book.changed(entries=(*book.entries, new)))\n", "", LEDGER),
    Fault("ledger: sent means the round of any plan", _LEDGER, "if (entry.plan, entry.round) == (plan.id, round_number)\n", "if entry.round == round_number\n", LEDGER),
    Fault("ledger: sent forgets nothing", _LEDGER, "                        entry.changed(report=None)\n", "                        entry.changed()\n", LEDGER),
    Fault("ledger: bytes are not on the disk when it is replaced", _STORAGE, "            os.fsync(file.fileno())\n", "", LEDGER),
    Fault("ledger: the folder is not on the disk", _STORAGE, "            os.fsync(handle)\n", "            pass\n", LEDGER),
    Fault("ledger: what cannot be read is empty", _LEDGER, "except UNREADABLE as error:\n            raise FormatError(f\"the ledger {self.path} cannot be read: {error}\") from None", "except UNREADABLE:\n            return Book()", LEDGER),
    Fault("ledger: others may read it", _STORAGE, "0o600", "0o644", LEDGER),
    Fault("ledger: two processes at once", _STORAGE, "        fcntl.flock(handle, fcntl.LOCK_EX)\n", "        pass\n", LEDGER),
]  # fmt: skip

STANDING_PLANS = [
    Fault("windows: the phase is drawn at every question", _LEDGER, "        if known is not None:\n            return known\n", "        if known is not None:\n            return known.changed(phase=Source().below(standing.every))\n", WINDOWS),
    Fault("windows: a smaller window is answered", _LEDGER, "            if window <= row.window:\n", "            if window == row.window:\n", WINDOWS),
    Fault("windows: a smaller window is answered, seen by the vectors", _LEDGER, "            if window <= row.window:\n", "            if window == row.window:\n", VECTORS),
    Fault("windows: the last window again", _LEDGER, "            if window <= row.window:\n", "            if window < row.window:\n", VECTORS),
    Fault("windows: a fresh draw instead of the same bytes", _LEDGER, "                return base64.b64decode(row.report)\n", "                return draw(row)\n", WINDOWS),
    Fault("windows: no lifetime", _LEDGER, "if (row.answers + 1) * plan.epsilon > standing.lifetime:", "if False:", WINDOWS),
    Fault("windows: one answer beyond the lifetime", _LEDGER, "if (row.answers + 1) * plan.epsilon > standing.lifetime:", "if row.answers * plan.epsilon > standing.lifetime:", VECTORS),
    Fault("windows: answers are not counted", _LEDGER, "answers=row.answers + 1, report=None", "answers=row.answers, report=None", WINDOWS),
    Fault("windows: answers are free of the limit", _LEDGER, "            book.check(Cost.of_answer(plan))\n            due", "            due", WINDOWS),
    Fault("windows: standing plans cost nothing", _BOOK, "(*once.values(), *(row.cost for row in self.standing))", "once.values()", VECTORS),
    Fault("windows: a plan is known by its epsilon", _BOOK, "if row.plan == plan.id), None)", "if Fraction(row.epsilon) == plan.epsilon), None)", WINDOWS),
    Fault("windows: what ended before acceptance is answered", _LEDGER, "over = max((accepted - standing.start - phase) // standing.every, -1)", "over = -1", VECTORS),
    Fault("windows: a late confirmation forgets a newer report", _LEDGER, "if row is not None and window in (None, row.window):", "if row is not None:", VECTORS),
    Fault("windows: a trip is eligible twice", _STANDING, "first = max(end - self.recent, accepted)", "first = max(end - 2 * self.recent, accepted)", STANDING),
    Fault("windows: a trip at the border is eligible twice", _STANDING, "after < arrival <= until", "after <= arrival <= until", STANDING),
    Fault("windows: trips from before acceptance", _STANDING, "first = max(end - self.recent, accepted)", "first = end - self.recent", STANDING),
    Fault("windows: times of a day are dates", _STANDING, "None if arrival is None or abs(arrival) < UNDATED else arrival", "arrival", VECTORS),
    Fault("windows: answered before its end", _STANDING, "(int(shown // 1) - self.start - phase) // self.every", "-(-(int(shown // 1) - self.start - phase) // self.every)", STANDING),
    Fault("windows: windows beyond 32 bits", _STANDING, "window if 0 <= window <= MAX_WINDOW else -1", "window", STANDING),
    Fault("windows: recent is longer than every", _STANDING, "integer_in(self.recent, 1, self.every,", "integer_in(self.recent, 1, MAX_EVERY,", VECTORS),
    Fault("windows: the report names another window", _REPORTER, "self.draw_about(occasion, 0, window=row.window)", "self.draw_about(occasion, 0, window=0)", VECTORS),
    Fault("windows: all trips are eligible", _REPORTER, "[recordings[place] for place in places]", "recordings", WINDOWS),
    Fault("windows: always the first of several trips", _TRACK, "trips[(source or Source()).below(len(trips))]", "trips[0]", WINDOWS),
    Fault("windows: always the first of several trips, seen by the vectors", _TRACK, "trips[(source or Source()).below(len(trips))]", "trips[0]", VECTORS),
    Fault("windows: empty trajectories are trips", _TRACK, "if len(points) > 0]", "]", WINDOWS),
    Fault("points: all of them are kept", f"{PROTOCOL}/trips.py", "    if points <= MAX_POINTS:\n", "    if True:\n", VECTORS),
    Fault("trips: five are six or more", f"{PROTOCOL}/questions/trips.py", "CLASSES = (1, 2, 3, 4, 6)", "CLASSES = (1, 2, 3, 4, 5)", VECTORS),
    Fault("campaign: the nonce is not in the plan", f"{PROTOCOL}/plan.py", '        return self.values()\n', '        return self.values() | {"nonce": "0" * 32}\n', "tests/protocol/test_plan.py"),
    Fault("campaign: every nonce is the same", f"{PROTOCOL}/plan.py", "os.urandom(16).hex()", '"00" * 16', "tests/protocol/test_plan.py"),
    Fault("ledger: the limit can only be raised", _LEDGER, "book.changed(limits=book.limits.changed(**self.new_limits))", "book.changed(limits=book.limits.changed(limit=max(book.limits.limit, self.new_limits.get('limit', 0))))", WINDOWS),
    Fault("ledger: a link is replaced", _STORAGE, "return os.path.realpath(self.path)", "return os.path.abspath(self.path)", STORAGE),
    Fault("ledger: hard links are answered", _STORAGE, "st_nlink > 1", "st_nlink > 2", STORAGE),
    Fault("ledger: the lock can be deleted", _STORAGE, "            handle = os.open(folder, os.O_RDONLY)\n            try:\n                _lock", "            handle = os.open(self.real + '.lock', os.O_RDWR | os.O_CREAT)\n            try:\n                _lock", STORAGE),
    Fault("refusal: empty files have no coordinates", "src/ldptrace/cli/own.py", "crs or stated_crs(path, format), found.timezone", "crs or (found.crs if len(found) else None), found.timezone", OWN),
    Fault("clocks: --now changes the ledger in use", "src/ldptrace/cli/collect.py", "if now is not None and not was_typed(", "if False and not was_typed(", OWN),
    Fault("receive: any window is counted", _RECEIVE, "    if window != _ANY and _item(data, start + _WINDOW, _WINDOW_BYTES) != window:\n        return _WRONG_WINDOW\n", "", VECTORS),
]  # fmt: skip

PLANS = [
    Fault("plan: budgets are not added up", _PLAN, "if Fraction(self.spent) > self.epsilon:", "if False:", VECTORS),
    Fault("plan: the last round is free", _PLAN, "return total(round_.spent for round_ in self.rounds)", "return total(round_.spent for round_ in self.rounds[:1])", VECTORS),
    Fault("plan: everyone pays for one question", _ROUND, 'max(budgets) if self.assignment == "partition" else total(budgets)', "max(budgets)", VECTORS),
    Fault("plan: slots are free", _ROUND, "log(ask.randomizer.ratio, ask.question.slots)", "log(ask.randomizer.ratio)", VECTORS),
    Fault("plan: extends anything", _PLAN, "if self.extends is not None and self.extends not in self._earlier[-1:]:", "if False:", VECTORS),
    Fault("plan: rounds at once belong to a chain", _PLAN, "(*self._earlier, self.id) if self.extends else (self.id,)", "(*self._earlier, self.id)", VECTORS),
    Fault("plan: any amount of work", _PLAN, "if plan.work > MAX_WORK:", "if False:", VECTORS),
    Fault("plan: work of one round only", _PLAN, "sum(ask.work for round_ in self.rounds for ask in round_.asks)", "max(sum(ask.work for ask in round_.asks) for round_ in self.rounds)", "tests/protocol/test_plan.py"),
    Fault("plan: any size of a document", _PLAN, "if len(data) > MAX_DOCUMENT:", "if False:", VECTORS),
    Fault("plan: any payload", _ROUND, "if read.payload_bytes > MAX_PAYLOAD:", "if False:", VECTORS),
    Fault("plan: shares need not add up", _ROUND, 'if self.assignment == "partition" and sum(ask.share for ask in self.asks) != SHARES:', "if False:", VECTORS),
    Fault("plan: everyone may have shares", _ROUND, 'if self.assignment == "everyone" and any(ask.share != SHARES for ask in self.asks):', "if False:", VECTORS),
    Fault("plan: a question twice", _ROUND, "if len(set(names)) != len(names):", "if False:", VECTORS),
    Fault("plan: any version", _PLAN, 'if not shuffled and (type(version) is not int or version != DIRECT):', 'if not shuffled and version != DIRECT:', VECTORS),
    Fault("plan: epsilon is rounded", f"{PROTOCOL}/limits.py", "MAX_EPSILON = 20", "MAX_EPSILON = 21", VECTORS),
    Fault("plan: ratios of one", f"{PROTOCOL}/randomizers/base.py", "if self.ratio <= 1:", "if self.ratio < 1:", VECTORS),
    Fault("plan: any denominator", f"{PROTOCOL}/randomizers/__init__.py", " or (1 << RATIO_BITS) % denominator", "", VECTORS),
    Fault("plan: a ratio above its budget", f"{PROTOCOL}/exact.py", "int(scaled * (1 - Decimal(10) ** (20 - _DIGITS)))", "int(scaled) + 1", "tests/protocol/test_plan.py " + VECTORS),
    Fault("canonical: escapes are read", f"{PROTOCOL}/canonical.py", 'if b"\\\\" in text:', "if False:", VECTORS),
    Fault("canonical: integers of any size", f"{PROTOCOL}/canonical.py", "if abs(number) > MAX_INTEGER:", "if False:", VECTORS),
    Fault("canonical: other spellings are read", f"{PROTOCOL}/canonical.py", "if dumps(data) != text:", "if False:", VECTORS),
]  # fmt: skip

CHANNELS = [
    Fault("oue: the true bit is always sent", _OUE, "bytes([source.below(2)])", "bytes([source.below(2) | 1])", VECTORS),
    Fault("oue: the true bit is always sent, seen by the audit", _OUE, "bytes([source.below(2)])", "bytes([source.below(2) | 1])", AUDITED_EXACT),
    Fault("oue: the bits after the true one are not randomised", _OUE, "source.flags(ones, total, self.domain - true - 1)", "bytes(self.domain - true - 1)", "tests/protocol/randomizers"),
    Fault("oue: odds of the other bits are turned", _OUE, "ones, total = self.ratio.denominator,", "ones, total = self.ratio.numerator,", VECTORS),
    Fault("grr: lies skip the wrong item", _GRR, "return (lie if lie < true else lie + 1,)", "return (lie,)", VECTORS),
    Fault("grr: one case too many tells the truth", _GRR, "        if drawn < weight:", "        if drawn <= weight:", VECTORS),
    Fault("privset: one case too many misses", _PRIVSET, "while drawn >= self.hit_weights[hits]:", "while drawn > self.hit_weights[hits]:", VECTORS),
    Fault("grr: more truth than agreed", _GRR, "true, other = self.ratio.numerator, self.ratio.denominator", "true, other = 2 * self.ratio.numerator, self.ratio.denominator", AUDITED_EXACT),
    Fault("grr: nothing has no output", _GRR, "return [items[0] if items else self.domain]", "return [items[0] if items else 0]", VECTORS),
    Fault("privset: misses are as likely as hits", _PRIVSET, "likelihood = self.ratio.numerator if j else self.ratio.denominator", "likelihood = self.ratio.numerator", VECTORS),
    Fault("privset: hits are too likely", _PRIVSET, "likelihood = self.ratio.numerator if j else", "likelihood = self.ratio.numerator * (j + 1) if j else", AUDITED_EXACT),
    Fault("privset: strangers are own ones", _PRIVSET, "bisect_right(before, place) for place", "bisect_left(before, place) for place", VECTORS),
    Fault("privset: short sets are not filled up", _PRIVSET, "[*sorted(items), *range(self.domain, self.domain + self.capacity - len(items))]", "sorted(items)", VECTORS),
    Fault("privset: the order of the own items tells", _PRIVSET, "return tuple(sorted(mine + ", "return tuple((mine + ", VECTORS),
    Fault("privset: any number of items is read", _PRIVSET, "            if len(named) != self.size:", "            if False:", VECTORS),
    Fault("privset: any order is read", _PRIVSET, "any(a >= b for a, b in pairwise(named)) or", "", VECTORS),
    Fault("grr: outputs out of range are read", _GRR, "        if item > self.domain:", "        if False:", VECTORS),
    Fault("bits: unused ones are read", f"{PROTOCOL}/randomizers/base.py", "    if named and named[-1] >= outputs:", "    if False:", VECTORS),
]  # fmt: skip

RECEIVERS = [
    Fault("reader: any padding", f"{PROTOCOL}/reports.py", "    if any(report.payload[used:]):", "    if False:", VECTORS),
    Fault("reader: any plan", f"{PROTOCOL}/reports.py", "    if report.plan != plan_prefix(plan):", "    if False:", VECTORS),
    Fault("receiver: duplicates count", _RECEIVE, "        if table[place, 0] == first and table[place, 1] == second:\n            return False", "        if table[place, 0] == first and table[place, 1] == second:\n            return True", RECEIVE),
    Fault("receiver: half of an id", _RECEIVE, "if table[place, 0] == first and table[place, 1] == second:", "if table[place, 0] == first:", RECEIVE),
    Fault("receiver: growing forgets", _RECEIVE, "            _insert_all(known, self.table, self.zero, self.key)\n", "", RECEIVE),
    Fault("receiver: growing forgets the id of zeros", _RECEIVE, "np.zeros((int(self.zero[0]), 2), dtype=np.uint64)", "np.zeros((0, 2), dtype=np.uint64)", RECEIVE),
    Fault("receiver: the id of zeros counts again", _RECEIVE, "        new = zero[0] == 0\n", "        new = True\n", RECEIVE),
    Fault("receiver: lanes overflow", _RECEIVE, "counted % 255 == 0", "counted % 256 == 0", RECEIVE),
    Fault("receiver: any padding", _RECEIVE, "        if data[at]:\n            return _BAD_PADDING", "        if False:\n            return _BAD_PADDING", RECEIVE + " " + VECTORS),
    Fault("receiver: a rejected id is remembered", _RECEIVE, "        if problem == 0 and not _insert(", "        if not _insert(", RECEIVE),
]  # fmt: skip

AUDITS = [
    Fault("audit: the ratio is not compared", f"{AUDIT}/exact.py", "self.ratio is not None and self.ratio <= self.claimed and self.formulas_hold", "self.ratio is not None and self.formulas_hold", AUDITED_EXACT),
    Fault("audit: the ratio is the smallest", f"{AUDIT}/exact.py", "worst = max(worst, max(chances) / min(chances))", "worst = min(worst, max(chances) / min(chances))", AUDITED_EXACT),
    Fault("audit: impossible outputs are overlooked", f"{AUDIT}/exact.py", "        if min(chances) == 0:\n            worst = None\n            break\n", "        if min(chances) == 0:\n            continue\n", AUDITED_EXACT),
    Fault("audit: formulas are not compared", f"{AUDIT}/exact.py", "holds = same and _full_size_agrees(channel)", "holds = True", AUDITED_EXACT),
    Fault("audit: stated chances are not compared", f"{AUDIT}/exact.py", "holds = same and _full_size_agrees(channel)", "holds = _full_size_agrees(channel)", AUDITED_EXACT),
    Fault("audit: formulas at full size are not compared", f"{AUDIT}/exact.py", "holds = same and _full_size_agrees(channel)", "holds = same", AUDITED_EXACT),
    Fault("audit: slots are not added up", f"{AUDIT}/exact.py", "finding.epsilon * ask.question.slots for", "finding.epsilon for", AUDITED_EXACT),
    Fault("audit: questions are not added up", f"{AUDIT}/exact.py", 'return max(values) if round_.assignment == "partition" else sum(values)', "return max(values)", AUDITED_EXACT),
    Fault("audit: headers are cut", f"{AUDIT}/client.py", "m[:HEADER_BYTES].hex()", "m[:18].hex()", AUDITED_STRUCTURE),
    Fault("audit: headers are not compared", f"{AUDIT}/client.py", '_equal(number, "header", headers)]', "]", AUDITED_STRUCTURE),
    Fault("audit: sizes are not compared", f"{AUDIT}/client.py", '[_equal(number, "number and size", sizes), ', "[", AUDITED_STRUCTURE),
    Fault("audit: the form is not looked at", f"{AUDIT}/client.py", "            found.append(_valid(plan, number, sent))", "            pass", AUDITED_STRUCTURE),
    Fault("audit: one trajectory is compared with itself", f"{AUDIT}/client.py", "other = next((name for name in names if values[name] != first), None)", "other = next((name for name in names[:1] if values[name] != first), None)", AUDITED_STRUCTURE),
    Fault("audit: bounds without their error", f"{AUDIT}/black_box.py", "low = stats.beta.ppf(level, hits, trials - hits + 1) if hits else 0.0", "low = hits / trials", AUDITED_ATTACKS),
    Fault("audit: bounds of nothing", f"{AUDIT}/black_box.py", "    return max(bounds)\n", "    return 0.0\n", AUDITED_ATTACKS),
    Fault("audit: marginals always stand", f"{AUDIT}/marginals.py", "stands = bool(2 * tails.flat[worst] > level)", "stands = True", AUDITED_MARGINALS),
    Fault("audit: reports need not follow from the bytes", f"{AUDIT}/system.py", "    if again != message:", "    if False:", AUDITED_SOURCE),
    Fault("audit: the source is left out of the verdict", f"{AUDIT}/verdict.py", '"structure", "source", ', '"structure", ', AUDITED_VERDICT),
    Fault("audit: the marginals are left out of the verdict", f"{AUDIT}/verdict.py", '"central", "marginals", ', '"central", ', AUDITED_VERDICT),
    Fault("audit: the sum is left out of the verdict", f"{AUDIT}/verdict.py", " and (exact is None or exact <= float(self.plan.epsilon))", "", AUDITED_VERDICT),
]  # fmt: skip

_PUBLIC, PUBLIC = "src/ldptrace/methods/public.py", "tests/methods/test_public.py"
_SPENDING, SPENDING = "src/ldptrace/methods/base.py", "tests/methods/test_base.py"
LOCAL_DATA = [
    Fault("promise: silent devices are no leak", "src/ldptrace/settings.py", "            leak_of(self.reading.outside),\n", "", "tests/test_synthesis.py -k weakens"),
    Fault("promise: bounds of the data are no leak", "src/ldptrace/settings.py", "            BOUNDS_LEAK if self.reading.bounds is None else None,\n", "", "tests/test_synthesis.py -k weakens"),
    Fault("public: routes in memory are not compared", _PUBLIC, "return Public(area, fixes, fixes.lines())", "return Public(area, fixes)", PUBLIC),
    Fault("public: rounded copies are not compared", _PUBLIC, '(("fixes", seen[: len(fixes)]), ("rounded steps", seen[len(fixes) :]))', '(("fixes", seen[: len(fixes)]),)', PUBLIC),
    Fault("public: a hundredth is any share", _PUBLIC, "            if share > BY_CHANCE:", "            if share > 0.5:", PUBLIC),
    Fault("public: the input is a public file", _PUBLIC, "Path(real).resolve() == Path(given).resolve()", "Path(real) == Path(given)", PUBLIC),
    Fault("public: trips that were not drawn are not compared", "src/ldptrace/synthesis.py", "            public.refuse_private(crowd)\n            unit = crowd.play_devices(settings.unit, streams.devices)\n", "            unit = crowd.play_devices(settings.unit, streams.devices)\n            public.refuse_private(crowd)\n", PUBLIC),
    Fault("job: plans are not added up", "src/ldptrace/methods/base.py", "        self.spending.pay(plan, round_number)\n", "", "tests/methods/test_base.py"),
    Fault("job: a job made from another has an epsilon of its own", "src/ldptrace/methods/base.py", "        if self.spending is None:\n", "        if True:\n", "tests/methods/test_base.py"),
    Fault("job: no limit", _SPENDING, "if self.spent + plan.epsilon > self.limit:", "if False:", SPENDING),
    Fault("job: the limit cannot be reached", _SPENDING, "if self.spent + plan.epsilon > self.limit:", "if self.spent + plan.epsilon >= self.limit:", SPENDING),
    Fault("job: earlier plans are forgotten", _SPENDING, "if self.spent + plan.epsilon > self.limit:", "if plan.epsilon > self.limit:", SPENDING),
    Fault("job: sums are rounded", _SPENDING, "if self.spent + plan.epsilon > self.limit:", "if float(self.spent + plan.epsilon) > float(self.limit):", SPENDING),
    Fault("job: a round that is asked again is free", _SPENDING, "return one_chain and round_number not in self.rounds", "return one_chain", SPENDING),
    Fault("job: forks are free", _SPENDING, "one_chain = self.plan.id in plan.chain or plan.id in self.plan.chain", "one_chain = self.plan.root == plan.root", SPENDING),
    Fault("job: rounds of any plan are free", _SPENDING, "one_chain = self.plan.id in plan.chain or plan.id in self.plan.chain", "one_chain = True", SPENDING),
    Fault("job: rounds count from the end", _SPENDING, "if not 0 <= round_number < len(plan.rounds):", "if not round_number < len(plan.rounds):", SPENDING),
    Fault("job: the longer plan is forgotten", _SPENDING, "entry.plan = max(entry.plan, plan, key=lambda one: len(one.rounds))", "pass", SPENDING),
]  # fmt: skip

SEEDS = [
    Fault("simulation: all blocks draw the same stream", "src/ldptrace/simulation/collect.py", "round_, rng = self.plan.rounds[self.round], child(self.source, number)", "round_, rng = self.plan.rounds[self.round], child(self.source, 0)", "tests/simulation/test_collect.py"),
    Fault("simulation: all children of a source are one", "src/ldptrace/core/parallel.py", "(*seed.spawn_key, number)", "(*seed.spawn_key, 0)", "tests/simulation/test_collect.py"),
    Fault("simulation: a hidden seed of 16 bits", "src/ldptrace/simulation/streams.py", "secrets.randbits(256)", "secrets.randbits(16)", "tests/simulation/test_streams.py"),
    Fault("release: devices and sampling share a stream", "src/ldptrace/simulation/streams.py", "return Streams(_stream(hidden), np.random.default_rng(sample_seed), sample_seed, seeded=False)", "return Streams(np.random.default_rng(sample_seed), np.random.default_rng(sample_seed), sample_seed, seeded=False)", "tests/methods/test_methods.py"),
    Fault("release: a seeded run does not say so", "src/ldptrace/synthesis.py", '"experiment": EXPERIMENT if self.seeded else None', '"experiment": None', "tests/methods/test_methods.py -k published"),
    Fault("release: seeded devices pass for unseeded ones", "src/ldptrace/simulation/streams.py", "sample_seed, seeded=True)", "sample_seed, seeded=False)", "tests/simulation/test_streams.py"),
]  # fmt: skip

_SERVER, SERVER = "src/ldptrace/server", "tests/server"
_COUNTING, COUNTING = f"{_SERVER}/counting.py", f"{SERVER}/test_counting.py"
_SQLITE, SQLITE = f"{_SERVER}/storage/sqlite.py", f"{SERVER}/storage/test_sqlite.py"
_TALLY, _ESTIMATES, TALLY = (
    "src/ldptrace/curator/tally.py",
    "src/ldptrace/curator/estimates.py",
    "tests/curator/test_tally.py",
)
SERVERS = [
    Fault("server: an admission code of another campaign", _COUNTING, '"DELETE FROM admissions WHERE campaign = ? AND hash = ?"', '"DELETE FROM admissions WHERE length(?) > 0 AND hash = ?"', COUNTING),
    Fault("server: an admission code is good for ever", _COUNTING, 'session.run(delete, ', 'session.row(delete.replace("DELETE", "SELECT 1"), ', COUNTING),
    Fault("server: a draft is answered", f"{_SERVER}/registry.py", " AND state <> 'draft'", "", COUNTING),
    Fault("server: names are not looked at", f"{_SERVER}/registry.py", "    return re.fullmatch(NAME_PATTERN, text) is not None", "    return True", f"{SERVER}/test_devices.py"),
    Fault("server: ids stay on the disk", _SQLITE, '"secure_delete = ON"', '"secure_delete = OFF"', SQLITE),
    Fault("server: the log of changes stays on the disk", _SQLITE, "wal_checkpoint(TRUNCATE)", "wal_checkpoint(PASSIVE)", SQLITE),
    Fault("server: ids are not erased", f"{_SERVER}/seen.py", 'session.run(f"DELETE FROM ids WHERE {_BETWEEN}", round_key, low, high)\n\n\n_BETWEEN', "pass\n\n\n_BETWEEN", SQLITE),
    Fault("server: a commit is not synced", _SQLITE, "synchronous = FULL", "synchronous = NORMAL", SQLITE),
    Fault("server: half-sent bodies fill the memory", "src/ldptrace/web/limits.py", "        self.bytes += more\n", "", "tests/web/test_limits.py"),
    Fault("server: a failure delays everybody", "src/ldptrace/web/intake.py", "            task = asyncio.create_task(self._later(campaign, group, attempt))", "            await (task := asyncio.create_task(self._later(campaign, group, attempt)))", "tests/web/test_intake.py"),
    Fault("server: campaigns share a plan", f"{_SERVER}/campaigns.py", "        return plan.changed(campaign=CampaignName.fresh(name))", "        return plan", f"{SERVER}/test_campaigns.py"),
    Fault("server: any window is counted", f"{_SERVER}/windows.py", "return begun and first <= now < last", "return begun and first <= now", f"{SERVER}/test_windows.py"),
    Fault("server: a plan that was replaced goes on", f"{_SERVER}/windows.py", "return begun and first <= now < last", "return first <= now < last", f"{SERVER}/test_windows.py {SERVER}/test_standing.py"),
    Fault("server: a closed window takes more", _COUNTING, "    if not round_.open:\n", "    if not round_.open and round_.window is None:\n", f"{SERVER}/test_windows.py"),
    Fault("server: ids of closed windows stay", f"{_SERVER}/standing.py", '            session.run("DELETE FROM fresh WHERE round = ?", key)\n', "", f"{SERVER}/test_windows.py"),
    Fault("server: a published campaign is set back", f"{_SERVER}/backups.py", "    if not published <= {", "    if not published <= published | {", f"{SERVER}/test_backups.py"),
    Fault("server: a backup forgets the newest ids", f"{_SERVER}/backups.py", '(*OF_ROUND, "ids")', '("tallies", "ids")', f"{SERVER}/test_backups.py"),
    Fault("tally: of another round", _TALLY, "if (self.plan_id, self.round) != (other.plan_id, other.round):", "if self.plan_id != other.plan_id:", TALLY),
    Fault("estimates: a tally of another round", _ESTIMATES, "(plan.id, *plan.ancestors[tally.round :])", "(plan.id, *plan.ancestors)", TALLY),
    Fault("estimates: debiased by users", _ESTIMATES, "frequencies = channel.debias(counts, reports) / users", "frequencies = channel.debias(counts, users) / users", TALLY),
    Fault("server: refused requests make an address wait longer", "src/ldptrace/web/limits.py", "left - 1 if allowed else left", "left - 1", "tests/web/test_limits.py"),
    Fault("server: the key of a plan is replaced", f"{_SERVER}/campaigns.py", "if shuffled.key not in (public, GENERATOR):", "if not shuffled.key:", f"{SERVER}/test_batches.py"),
    Fault("server: a method whose second round is not private", f"{_SERVER}/campaigns.py", "if not plan.is_private or plan.method == UNPADDED:", "if not plan.is_private:", f"{SERVER}/test_campaigns.py"),
    Fault("server: files of a road network may make files of any size", f"{_SERVER}/fence.py", "            (resource.RLIMIT_FSIZE, 4 << 30),\n", "", f"{SERVER}/test_fence.py"),
    Fault("server: files of a road network may take any time", f"{_SERVER}/fence.py", "            (resource.RLIMIT_CPU, seconds),\n", "", f"{SERVER}/test_fence.py"),
]  # fmt: skip

JS = "clients/js/src"
TABS = "tests/clients/test_js.py::test_two_tabs_give_one_answer"
CLIENT = [
    Fault("js: seeded", f"{JS}/randomness.js", "globalThis.crypto.getRandomValues(more.subarray(at, Math.min(at + 65536, more.length)));", "for (let k = at; k < more.length; k += 1) more[k] = (k * 167 + 13) % 256;"),
    Fault("js: Math.random", f"{JS}/randomness.js", "globalThis.crypto.getRandomValues(more.subarray(at, Math.min(at + 65536, more.length)));", "for (let k = at; k < more.length; k += 1) more[k] = Math.random() * 256;"),
    Fault("js: zeros after 64 bytes", f"{JS}/randomness.js", "more.subarray(at, Math.min(at + 65536, more.length))", "more.subarray(at, Math.min(at + 64, more.length))"),
    Fault("js: a buffer for all reports", f"{JS}/randomness.js", "  constructor(take = systemBytes()) {", "  constructor(take = (globalThis.kept ??= systemBytes())) {"),
    Fault("js: leftovers are thrown away", f"{JS}/randomness.js", "      more.set(data.subarray(position));\n", ""),
    Fault("js: below takes a remainder", f"{JS}/randomness.js", "      const value = integer(this.take(size)) & mask;\n      if (value < bound) return value;", "      return (integer(this.take(size)) & mask) % bound;"),
    Fault("js: index takes a remainder", f"{JS}/randomness.js", "      value &= mask;\n      if (value < bound) return value;", "      return (value & mask) % bound;"),
    Fault("js: chances are rounded", f"{JS}/randomness.js", "    if (highest < limit) return YES;", "    if (lowest < limit) return YES;"),
    Fault("js: rejected draws count as no", f"{JS}/randomness.js", "      if (verdict === AGAIN) continue;", "      if (verdict === AGAIN) return false;"),
    Fault("js: an entry can come twice", f"{JS}/randomness.js", "      moved.set(other, moved.get(position) ?? position);\n", ""),
    Fault("js: positions are not random", f"{JS}/questions.js", "source.places(list.length, most).map((place) => list[place])", "list.slice(0, most)"),
    Fault("js: headings are swapped", f"{JS}/grid.js", "const HEADING = [3, 2, 1, 4, 0, 5, 6, 7];", "const HEADING = [3, 2, 1, 4, 0, 6, 5, 7];"),
    Fault("js: text is a number", f"{JS}/grid.js", 'typeof value === "number" || typeof value === "bigint" ? Number(value) : NaN', "Number(value)"),
    Fault("js: points that cannot be had are an error", f"{JS}/grid.js", "  } catch {\n    return [];\n  }", "  } catch (error) {\n    throw error;\n  }"),
    Fault("js: oue always sends the true bit", f"{JS}/randomizers.js", "source.index(2) === 1", "source.index(2) >= 0"),
    Fault("js: grr lies skip the wrong item", f"{JS}/randomizers.js", "return [lie < truth ? lie : lie + 1];", "return [lie];"),
    Fault("js: grr tells too much truth", f"{JS}/randomizers.js", "    if (drawn < this.numerator) return [truth];", "    if (drawn <= this.numerator) return [truth];"),
    Fault("js: one case too many misses", f"{JS}/randomizers.js", "for (; drawn >= this.weights[hits]; hits", "for (; drawn > this.weights[hits]; hits"),
    Fault("js: privset hits are too likely", f"{JS}/randomizers.js", "(j > 0 ? this.numerator : this.denominator)", "(j > 0 ? this.numerator * BigInt(j) : this.denominator)"),
    Fault("js: privset strangers are own ones", f"{JS}/randomizers.js", "if (own[middle] - middle <= place) low", "if (own[middle] - middle < place) low"),
    Fault("js: privset sets are not filled up", f"{JS}/randomizers.js", "own.push(this.domain + empty);", "own.push(this.domain);"),
    Fault("js: the last group is never drawn", f"{JS}/reporter.js", "let drawn = source.index(SHARES);", "let drawn = source.index(SHARES - 1);"),
    Fault("js: a plan that leaks is answered", f"{JS}/reporter.js", "if (plan.rounds.some((round) => !round.padded)) throw", "if (plan.rounds.every((round) => !round.padded)) throw"),
    Fault("js: other coordinates are answered", f"{JS}/reporter.js", "crs !== plan.crs) throw", "false) throw"),
    Fault("js: the ledger is not asked", f"{JS}/reporter.js", "if (this.ledger === null) return", "if (round >= 0) return"),
    Fault("js: forks are answered", f"{JS}/ledger.js", 'if (earlier.some((entry) => !plan.chain.includes(entry.plan))) throw new PlanRefused("plan-forked");', ""),
    Fault("js: a retry under another plan", f"{JS}/ledger.js", "known.report === null || known.plan !== plan.id", "known.report === null"),
    Fault("js: a fresh draw instead of a retry", f"{JS}/ledger.js", "return { bytes: Uint8Array.from(known.report) };", "return { bytes: draw() };"),
    Fault("js: the limit cannot be reached", f"{JS}/ledger.js", "spent[name] + cost[name] > units(limit)", "spent[name] + cost[name] >= units(limit)"),
    Fault("js: everything is free", f"{JS}/ledger.js", "earlier.length > 0 ? FREE : answerCost(plan)", "FREE"),
    Fault("js: equal epsilons count once", f"{JS}/ledger.js", "[entry.root, costOfAnswers(entry, 1n)]", "[entry.epsilon, costOfAnswers(entry, 1n)]"),
    Fault("js: nothing is written", f"{JS}/ledger.js", "return [kept(report), report];", "return [undefined, report];"),
    Fault("js: the phase is drawn again", f"{JS}/ledger.js", "if (known !== undefined) return [undefined, known];", "if (known !== undefined) return [withRow(book, { ...known, phase: source.index(plan.standing.every) }), known];"),
    Fault("js: a smaller window is answered", f"{JS}/ledger.js", "if (window <= row.window) {", "if (window === row.window) {"),
    Fault("js: no lifetime", f"{JS}/ledger.js", "if (BigInt(row.answers + 1) * units(plan.epsilon) > units(plan.standing.lifetime)) {", "if (false) {"),
    Fault("js: answers are not counted", f"{JS}/ledger.js", "answers: row.answers + 1 };", "answers: row.answers };"),
    Fault("js: standing plans cost nothing", f"{JS}/ledger.js", "[...costs.values(), ...given]", "[...costs.values()]"),
    Fault("js: what ended before acceptance is answered", f"{JS}/ledger.js", "Math.max(-1, Math.floor((accepted - start - phase) / every))", "-1"),
    Fault("js: a late confirmation forgets a newer report", f"{JS}/ledger.js", "(window === null || row.window === window)", "true"),
    Fault("js: any promise is believed", f"{JS}/plan.js", 'Number(epsilon)) > Number(delta)) throw', 'Number(epsilon)) > 1) throw'),
    Fault("js: forged reports hide others", f"{JS}/plan.js", "Number((numerator * BigInt(batch)) / denominator)", "batch"),
    Fault("js: clones are counted twice", f"{JS}/accountant.js", "share * given(", "share * 0.99 * given("),
    Fault("js: eps0 of shuffled answers is not counted", f"{JS}/ledger.js", 'over("local", this.localLimit)', "false"),
    Fault("js: deltas are not added", f"{JS}/ledger.js", 'over("delta", MOST_DELTA)', "false"),
    Fault("js: any eps0 of one answer", f"{JS}/ledger.js", "units(plan.epsilon) > units(this.mostLocal)", "false"),
    Fault("js: shuffled plans are answered against the person's will", f"{JS}/ledger.js", "plan.shuffled !== null && !this.shuffled", "false"),
    Fault("js: the total of a lifetime is not agreed to", f"{JS}/ledger.js", "this.#check(book, { ...FREE, local: total });", ""),
    Fault("js: shuffled reports are not sealed", f"{JS}/reporter.js", "return seal(shuffled.key, boundInfo(id), labelBytes(window), report);", "return report;"),
    Fault("js: two seals of one answer", f"{JS}/ledger.js", "        if (bytes !== undefined) return [undefined, bytes];\n        return due?.window", "        if (bytes !== undefined) return [undefined, report];\n        return due?.window"),
    Fault("js: a retry is sealed anew", f"{JS}/ledger.js", "      if (first.bytes !== undefined) return first.bytes;\n", "      if (first.bytes !== undefined) return sealed(draw(first.due), null);\n"),
    Fault("js: other bytes than those of the ledger are sent", f"{JS}/sending.js", "waiting.report.some((byte, at) => byte !== report[at])", "false"),
    Fault("js: a shuffled report goes to the campaign", f"{JS}/sending.js", "  if (plan.shuffled === null) {", "  if (url !== null) {"),
    Fault("js: a change is told before it is on the disk", f"{JS}/storage.js", '{ durability: "strict" }', '{ durability: "relaxed" }', "tests/clients/test_js.py::test_in_a_browser"),
    Fault("js: an unreadable ledger is empty", f"{JS}/ledger.js", 'if (!known || !book.entries.every(isEntry) || !book.standing.every(isRow)) throw new Error("the ledger cannot be read");', "if (!known || !book.entries.every(isEntry) || !book.standing.every(isRow)) return { entries: [], standing: [] };"),
    Fault("js: a broken text is an empty ledger", f"{JS}/ledger.js", "if (text === null) return { entries: [], standing: [] };", "if (!text) return { entries: [], standing: [] };"),
    Fault("js: half a plan id is compared", f"{JS}/plan.js", "planId !== plan.id", "planId.slice(0, 32) !== plan.id.slice(0, 32)"),
    Fault("js: a trip is eligible twice", f"{JS}/standing.js", "Math.max(last - standing.recent, accepted)", "Math.max(last - 2 * standing.recent, accepted)"),
    Fault("js: trips from before acceptance", f"{JS}/standing.js", "Math.max(last - standing.recent, accepted)", "last - standing.recent"),
    Fault("js: always the first of several trips", f"{JS}/grid.js", "trips[source.index(trips.length)]", "trips[0]"),
    Fault("js: all points are kept", f"{JS}/grid.js", "if (points.length <= MOST_POINTS) return points;", "if (points) return points;"),
    Fault("js: the nonce may be anything", f"{JS}/plan.js", 'if (!matches(data.nonce, /^[0-9a-f]{32}$/)) malformed("nonce");', ""),
    Fault("js: any window is counted", f"{JS}/reports.js", 'if (wanted !== null && windowOf(report) !== wanted) throw new ReportRejected("wrong-window");', ""),
    Fault("js: sent means the round of any plan", f"{JS}/ledger.js", "entry.plan === plan.id && entry.round === round;", "entry.round === round;"),
    Fault("js: every tab has a ledger of its own", f"{JS}/storage.js", "indexedDB.open(this.name, 1)", "indexedDB.open(this.name + Math.random(), 1)", TABS),
    Fault("js: a report is told before it is kept", f"{JS}/storage.js", "if (text !== undefined) texts.put(text, key);", "if (text !== undefined) setTimeout(() => { globalThis.indexedDB.open(this.name, 1).onsuccess = (opened) => opened.target.result.transaction(STORE, 'readwrite').objectStore(STORE).put(text, key); });", TABS),
    Fault("js: any amount of work", f"{JS}/plan.js", "if (work > MAX_WORK)", "if (work > 2 * MAX_WORK)"),
    Fault("js: any payload", f"{JS}/plan.js", "if (payloadBytes > MAX_PAYLOAD)", "if (payloadBytes > MAX_PAYLOAD + 1)"),
    Fault("js: any size of a document", f"{JS}/plan.js", "if (bytes.length > MAX_DOCUMENT)", "if (bytes.length > MAX_DOCUMENT + 1)"),
    Fault("js: budgets are not added up", f"{JS}/plan.js", "  if (overspends(rounds", "  if (false && overspends(rounds"),
    Fault("js: slots are free", f"{JS}/exact.js", "BigInt(question.slots) * ", ""),
    Fault("js: everyone pays for one question", f"{JS}/exact.js", 'assignment === "everyone"', "false"),
    Fault("js: epsilon is rounded", f"{JS}/plan.js", "numerator <= 20n * denominator", "Number(epsilon) <= 20"),
    Fault("js: extends anything", f"{JS}/plan.js", "if (ids.at(-1) !== data.extends) malformed", "if (false) malformed"),
    Fault("js: any version", f"{JS}/plan.js", "if (data.version !== 1 &&", "if (data.version != 1 &&"),
    Fault("js: shares need not add up", f"{JS}/plan.js", "asks.some((ask) => ask.share !== SHARES) : shares !== SHARES", "asks.some((ask) => ask.share !== SHARES) : false"),
    Fault("js: everyone may have shares", f"{JS}/plan.js", "everyone ? asks.some((ask) => ask.share !== SHARES) :", "everyone ? false :"),
    Fault("js: escapes are read", f"{JS}/canonical.js", "if (/[^ -~]|\\\\/.test(text) || depth(text) > DEPTH)", "if (depth(text) > DEPTH)"),
    Fault("js: integers of any size", f"{JS}/canonical.js", "!Number.isSafeInteger(one)", "false"),
    Fault("js: other spellings are read", f"{JS}/canonical.js", "canonical(value) === text ? value : undefined", "value"),
    Fault("js: longer decimals are read", f"{JS}/canonical.js", "plain(value) === text ? value : NaN", "value"),
    Fault("js: any padding", f"{JS}/reports.js", "if (report.subarray(used).some((byte) => byte !== 0))", "if (false)"),
    Fault("js: sent without a delay", f"{JS}/reporter.js", "return new Source().index(most + 1);", "return 0;"),
    Fault("js: duplicates count", f"{JS}/reports.js", 'if (seen.has(id)) throw new ReportRejected("duplicate");', ""),
]  # fmt: skip

_STORE, STORE = "src/ldptrace/shuffler/store.py", "tests/shuffler/test_store.py"
_BATCHES, BATCHES = f"{_SERVER}/batches.py", f"{SERVER}/test_batches.py"
SHUFFLERS = [
    Fault("shuffler: small batches are sent", _STORE, "enough = batch.reports >= served.batch", "enough = True", STORE),
    Fault("shuffler: a closed batch takes reports", _STORE, " if state == OPEN else None\n", "\n", STORE),
    Fault("shuffler: a storage that was set back goes on", _STORE, "        if was_set_back:\n", "        if False:\n", STORE),
    Fault("shuffler: a storage that was set back while it runs goes on", _STORE, "                    if not self._agrees(session, self.witness):\n", "                    if False:\n", STORE),
    Fault("shuffler: a copied witness is the witness", "src/ldptrace/shuffler/witness.py", "name if self._apart else", "name if True else", STORE),
    Fault("shuffler: windows from before a restore are served", _STORE, "served.open(one.window, now) and not begun", "served.open(one.window, now)", STORE),
    Fault("shuffler: any window is open", "src/ldptrace/shuffler/served.py", "return first <= now < last", "return True", "tests/shuffler/test_served.py"),
    Fault("shuffler: the order of the storage is sent", _STORE, "        secrets.SystemRandom().shuffle(places)\n", "", STORE),
    Fault("shuffler: codes are used again", _STORE, "AND hash = ? AND used = 0", "AND hash = ?", STORE),
    Fault("shuffler: a code admits to any window", _STORE, "SET used = 1 WHERE plan = ? AND label = ? AND hash = ?", "SET used = 1 WHERE plan = ? AND label >= min(0, ?) AND hash = ?", STORE),
    Fault("shuffler: a backup holds open batches", _STORE, 'copy.execute(f"DROP TABLE {_table(plan, window)}")', "pass", STORE),
    Fault("curator: small batches are counted", _BATCHES, "+ 1 < plan.shuffled.batch", "+ 1 < 0", BATCHES),
    Fault("curator: another batch is answered like the first", _BATCHES, "if found[0] != digest:", "if False:", BATCHES),
    Fault("curator: an operator hands over batches", f"{_SERVER}/tokens.py", "return self.campaign == campaign and self.scope == scope", "return self.campaign == campaign", f"{SERVER}/test_devices.py"),
    Fault("curator: direct reports of shuffled plans", f"{_SERVER}/counting.py", "if plans[-1].plan.shuffled is not None:", "if False:", BATCHES),
    Fault("curator: a batch at any time", _BATCHES, "if not first <= now < last:", "if False:", BATCHES),
]  # fmt: skip

# What single records decide of what everybody sees, and what the promise does not say of it.
_IO, _CORE, _STREAMS = "src/ldptrace/io", "src/ldptrace/core", "src/ldptrace/streams"
NEIGHBOURS = "tests/test_neighbours.py"
NEIGHBOUR_FAULTS = [
    Fault("neighbours: one missing time takes all times", f"{_IO}/clean.py", "    parsed = _usable(parsed, reading.min_points)", "    parsed = replace(parsed, trajectories=parsed.trajectories.with_all_times())\n    parsed = _usable(parsed, reading.min_points)", f"{NEIGHBOURS}::test_synthesize[lists]"),
    Fault("neighbours: the first trajectory decides whether there are times", "src/ldptrace/engines/files.py", "of_table(found[0].empty, reading).trajectories.t is not None", "bool(of_table(next(found[0].tables(1)), reading).trajectories.t[0] > 0)", f"{NEIGHBOURS}::test_synthesize_in_batches[lists]"),
    Fault("neighbours: one date moves all times of the day", f"{_CORE}/times.py", "return np.where(t >= FIRST_DATE, t + _offsets(t, timezone, local=False), t)", "return t + _offsets(t, timezone, local=False)", "tests/core/test_times.py"),
    Fault("neighbours: numbers decide the coordinate system", f"{_CORE}/layers.py", "shapes if public else None", "shapes", "tests/io/test_vector.py -k degrees"),
    Fault("neighbours: features without a line are omitted", f"{_IO}/geojson.py", "            lines.append([])\n            owners.append(number)\n", "", f"{NEIGHBOURS}::test_synthesize[geojson]"),
    Fault("neighbours: each part of a line is a device", f"{_CORE}/ragged.py", "return owners if (owners[1:] == owners[:-1]).any() else None", "return None", f"{NEIGHBOURS}::test_a_line_of_several_parts_is_one_trip"),
    Fault("neighbours: tracks without a segment are omitted", f"{_IO}/xml.py", "            self.begin()", "            pass", f"{NEIGHBOURS}::test_synthesize[gpx]"),
    Fault("neighbours: rows without a geometry are omitted", f"{_CORE}/positions.py", "shapes = shapes.in_every_row(0)", "shapes = shapes", f"{NEIGHBOURS}::test_synthesize[gpkg]"),
    Fault("neighbours: a line of JSON adds a column", f"{_IO}/jsonl.py", "if found.pop(True) < lines:", "if found.pop(True) < 0:", "tests/io/test_jsonl.py"),
    Fault("neighbours: one geometry decides what rows are", f"{_CORE}/positions.py", "if known is None and 0 < lines <= points:", "if known is None and 0 > lines:", "tests/core/test_positions.py"),
    Fault("neighbours: all names decide whether one is a number", f"{_CORE}/values.py", "if pc.all(pc.equal(numbers.cast(pa.string()), texts)).as_py():", "if True:", f"{NEIGHBOURS}::test_one_record_does_not_say_how_others_are_read"),
    Fault("neighbours: values decide whether a column holds times", f"{_CORE}/times.py", "return Times(np.full(len(column), np.nan), unread=len(column) - column.null_count)", "return Times(None)", f"{NEIGHBOURS}::test_one_person_does_not_say_whether_there_are_times"),
    Fault("neighbours: values decide whether a column lists times", f"{_IO}/csv.py", "            named += [found.t, *LISTS]\n", "            pass\n", f"{NEIGHBOURS}::test_one_person_does_not_say_whether_there_are_times"),
    Fault("neighbours: a list of times in one line makes times", f"{_IO}/jsonl.py", "        return pa.list_(pa.string())\n", "        return kind\n", f"{NEIGHBOURS}::test_one_person_does_not_say_whether_there_are_times"),
    Fault("neighbours: one time of a point takes those of others", f"{_IO}/geojson.py", "    if name in (known.t, known.date, START):\n", "    if False:\n", f"{NEIGHBOURS}::test_one_record_does_not_say_how_others_are_read"),
    Fault("neighbours: dates of all rows make a column one of times", f"{_IO}/csv.py", "if dated := self._dated(table.schema):", "if dated := list[str]():", f"{NEIGHBOURS}::test_dates_of_a_column_without_a_usual_name_decide_nothing"),
    Fault("neighbours: a quotation mark takes the rows of others", f"{_IO}/csv.py", "if not quoted or lines <= rows:", "if True:", f"{NEIGHBOURS}::test_a_quotation_mark_takes_no_rows_of_others"),
    Fault("neighbours: names of features are of one type", f"{_IO}/account.py", "names_of if name == names.user else values_of", "values_of", f"{NEIGHBOURS}::test_one_name_does_not_say_how_other_names_are_told_apart"),
    Fault("neighbours: taxis of Porto are numbers if all are", f"{_IO}/porto.py", "{reading.names.user: pa.string()}", "{}", f"{NEIGHBOURS}::test_one_name_does_not_say_how_other_names_are_told_apart"),
    Fault("neighbours: an empty name is a name in batches", f"{_IO}/csv.py", "pc.if_else(pc.is_in(texts, pa.array(MISSING)), None, texts)", "texts", "tests/io/test_csv.py"),
    Fault("neighbours: a line among points parts the points", f"{_IO}/geojson.py", "if not are_apart(keys) or known.date is not None:", "if known.date is not None:", f"{NEIGHBOURS}::test_one_record_does_not_say_how_others_are_read"),
    Fault("neighbours: a line among points takes their times", f"{_IO}/geojson.py", "moment if _is_point(feature) else given.t", "given.t", f"{NEIGHBOURS}::test_one_record_does_not_say_how_others_are_read"),
    Fault("neighbours: many lines part the points of others", f"{_CORE}/positions.py", "if not are_apart(keys) or (", "if (", "tests/core/test_positions.py"),
    Fault("neighbours: many lines take the times of points", f"{_CORE}/positions.py", "if not are_apart(keys) or (columns.t is not None and not is_list(table[columns.t].type)):", "if not are_apart(keys):", f"{NEIGHBOURS}::test_one_record_does_not_say_how_others_are_read"),
    Fault("neighbours: a start time of one line is of all", f"{_IO}/jsonl.py", "columns.user, START, ", "columns.user, ", "tests/io/test_jsonl.py"),
    Fault("neighbours: rides without an origin are omitted", f"{_CORE}/positions.py", "        x0, y0, t0, x1, y1, t1 = columns.ends\n", "        x0, y0, t0, x1, y1, t1 = columns.ends\n        table = table.filter(pc.is_valid(table[str(x0)]))\n", f"{NEIGHBOURS}::test_synthesize[ends]"),
    Fault("neighbours: trips without a cell are omitted", f"{_CORE}/positions.py", "    cells, rest = table[name], table.drop_columns([name])\n", "    table = table.filter(pc.not_equal(table[name].cast(pa.string()), \"\"))\n    cells, rest = table[name], table.drop_columns([name])\n", f"{NEIGHBOURS}::test_synthesize[cells]"),
    Fault("neighbours: lines of JSON without places are omitted", f"{_IO}/jsonl.py", "return filter(None, map(records_of, line_blocks(path)))", "return ([one for one in found if one.get(\"x\")] for found in map(records_of, line_blocks(path)))", f"{NEIGHBOURS}::test_synthesize[jsonl]"),
    Fault("neighbours: features of a sequence without a geometry are omitted", f"{_IO}/geojson.py", "return _of_features(records_of(read_bytes(path)), {}, reading)", "return _of_features([one for one in records_of(read_bytes(path)) if one.get(\"geometry\")], {}, reading)", f"{NEIGHBOURS}::test_synthesize[sequence]"),
    Fault("neighbours: rows that are trips lose their users in batches", "src/ldptrace/engines/files.py", "own.user or found[0].user", "own.user", "tests/io/test_sources.py"),
    Fault("neighbours: trips that say they are incomplete are omitted", f"{_IO}/porto.py", "trips.keep_points(np.repeat(~missing, trips.sizes))", "trips.take(~missing)", "tests/io/test_porto.py"),
    Fault("neighbours: taxis without a fix are omitted", f"{_IO}/logs.py", "    if empty:\n", "    if False:\n", "tests/io/test_logs.py"),
    Fault("neighbours: users without a trip id are omitted", f"{_CORE}/tables.py", "    if columns.user is not None:\n        known = ", "    if False:\n        known = ", "tests/core/test_tables.py"),
    Fault("neighbours: one trip decides whether others are sorted", f"{_CORE}/tables.py", "if (missing := np.isnan(rank)).any():", "if (missing := np.isnan(rank)).all():", "tests/core/test_tables.py"),
    Fault("neighbours: one property names users", f"{_IO}/files.py", "if found.user is None and name is not None:", "if False:", f"{NEIGHBOURS}::test_one_property_does_not_say_whose_all_trips_are"),
    Fault("neighbours: the stream begins with the first trip", f"{_STREAMS}/run.py", "float(found) if given is None else", "float(found) if found < np.inf else", f"{NEIGHBOURS}::test_the_first_trip_begins_no_stream"),
    Fault("neighbours: a trip before the stream is reported", f"{_STREAMS}/occasions.py", "(ended >= span[0]) & ", "", "tests/streams/test_occasions.py"),
    Fault("neighbours: the second round follows from true lengths", "src/ldptrace/methods/paper.py", 'length_quantile(estimates["length"], options.quantile)', "2 + int(job.paths.sizes.sum()) % 7", f"{NEIGHBOURS}::test_later_rounds[paper]"),
    Fault("neighbours: short trips are silent in the second round", "src/ldptrace/simulation/collect.py", "        if self.members is not None:\n", "        if self.round:\n            trips = trips.take(trips.paths.sizes > 1)\n        if self.members is not None:\n", f"{NEIGHBOURS}::test_later_rounds[paper]"),
    Fault("neighbours: devices without a trip are silent in a step", f"{_STREAMS}/run.py", "tally_of_step(self.plan, self.trips, which,", "tally_of_step(self.plan, self.trips, which[which >= 0],", f"{NEIGHBOURS}::test_every_step_of_a_stream"),
    Fault("neighbours: steps without a trip are forgotten", f"{_STREAMS}/run.py", "if reports else ()", "if (which >= 0).any() else ()", f"{NEIGHBOURS}::test_every_step_of_a_stream"),
    Fault("neighbours: the period of the trips is no leak", f"{_STREAMS}/settings.py", "None if given else PERIOD", "None", f"{NEIGHBOURS}::test_a_stream_whose_period_is_not_given_says_so"),
    Fault("stream: one answer fewer is promised", f"{_STREAMS}/run.py", "math.ceil(span / every)", "math.floor(span / every)", "tests/streams/test_run.py"),
    Fault("intervals: nine of ten", "src/ldptrace/curator/trips.py", "WIDE = 1.96", "WIDE = 1.645", "tests/curator/test_trips.py"),
    Fault("lengths: the last class is one length", "src/ldptrace/models/lengths.py", "    laws[:, -1] += np.maximum(1 - laws.sum(axis=1), 0)\n", "", "tests/models/test_lengths.py"),
    Fault("ordinal: narrow bends say how far off a profile is", "src/ldptrace/models/ordinal.py", "np.where(wide >= min(LEAST, wide.max()), evidence, -np.inf)", "evidence", "tests/models/test_ordinal.py"),
    Fault("stream: all devices have one phase", f"{_STREAMS}/occasions.py", "phase = rng.random(devices) * every", "phase = np.full(devices, rng.random() * every)", "tests/streams/test_occasions.py"),
    Fault("stream: always the first trip of a window", f"{_STREAMS}/occasions.py", "order = rng.permutation(_ended(trips, span))", "order = _ended(trips, span)", "tests/streams/test_occasions.py"),
    Fault("matrix: pairs of zones are known better", "src/ldptrace/products/matrix.py", "UNTOLD = 0.2", "UNTOLD = 0.1", "tests/products/test_matrix.py"),
    Fault("flows: streets of a cell are known better", "src/ldptrace/products/flows.py", "UNTOLD = 0.4", "UNTOLD = 0.2", "tests/products/test_flows.py"),
    Fault("pages: a release that is not published is shown", "src/ldptrace/server/pages.py", 'if campaign.state != "published":', "if False:", "tests/server/test_pages.py"),
    Fault("streams: a duration may be anything", f"{_STREAMS}/settings.py", "if isinstance(value, bool) or not isinstance(value, int | float) or not math.isfinite(value):\n        raise InputError(\n            f\"a duration", "if False:\n        raise InputError(\n            f\"a duration", "tests/streams/test_settings.py"),
    Fault("windows: two are counted for each", "src/ldptrace/server/windows.py", '"UPDATE campaigns SET round = ? WHERE name = ?", number + 1', '"UPDATE campaigns SET round = ? WHERE name = ?", number + 2', "tests/server/test_windows.py"),
    Fault("server: uploads that wait are read before it stops", "src/ldptrace/server/state.py", "cancel_futures=True", "cancel_futures=False", "tests/server/test_state.py"),
    Fault("engines: no trips have no points each", "src/ldptrace/engines/base.py", "max(self.count, 1)", "min(self.count, 1)", "tests/engines/test_base.py"),
    Fault("reports: another version is named", "src/ldptrace/protocol/reports.py", 'f"the report has version {version}, {known}"', 'f"the report has version {known}, {known}"', "tests/protocol/test_reports.py"),
    Fault("curator: any name of its modules is its own", "src/ldptrace/curator/__init__.py", "if name not in __all__:", "if False:", "tests/test_api.py"),
    Fault("js: a redirection counts as arrived", "clients/js/src/sending.js", 'redirect: "error"', 'redirect: "follow"'),
    Fault("page: the plan need not be the one of the address", "src/ldptrace/server/assets/contributor.js", "{ planId: mixed ? name : campaign.plan }", "{}", "tests/shuffler/test_pages.py::test_a_plan_that_the_address_does_not_name_is_not_answered"),
    Fault("js: cookies are sent", "clients/js/src/sending.js", 'credentials: "omit"', 'credentials: "include"'),
    Fault("js: the page that sends is named", "clients/js/src/sending.js", 'referrerPolicy: "no-referrer"', 'referrerPolicy: "unsafe-url"'),
    Fault("js: a report that was refused is forgotten", "clients/js/src/sending.js", "answer.status === 200 || before;", "answer.status === 200 || answer.status === 400 || before;"),
    Fault("js: a broken clock shows the start", "clients/js/src/standing.js", "Math.floor(now) : standing.start - 1", "Math.floor(now) : standing.start"),
    Fault("js: any conflict counts as arrived", "clients/js/src/sending.js", ' && code === "duplicate"', ""),
    Fault("js: a problem counts as arrived", "clients/js/src/sending.js", "answer.status === 409 && ", ""),
]  # fmt: skip

FAULTS: list[Fault] = [
    *DRAWS,
    *STREAM,
    *REPORTS,
    *LEDGERS,
    *SHUFFLED_LEDGERS,
    *STANDING_PLANS,
    *PLANS,
    *CHANNELS,
    *RECEIVERS,
    *AUDITS,
    *LOCAL_DATA,
    *SEEDS,
    *SERVERS,
    *SHUFFLERS,
    *NEIGHBOUR_FAULTS,
    *CLIENT,
    *JAVA_FAULTS,
    *DRIVEN_FAULTS,
]
