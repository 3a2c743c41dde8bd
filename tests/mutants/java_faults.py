# ruff: noqa: E501
"""Faults of the Java client, and of what drives clients in the audit."""

from __future__ import annotations

from mutants.fault import Fault

JAVA = "clients/java/src/org/ldptrace/device"
TESTED = "tests/clients/test_java.py"
VECTORS = f"{TESTED}::test_every_vector"
CHECKS = f"{TESTED}::test_what_no_vector_shows"
LINKS = f"{TESTED}::test_links_do_not_fork_a_ledger"
RESTARTS = f"{TESTED}::test_histories_with_restarts"

CHAINS = "tests/clients/test_clients.py -k chain"

_SOURCE = f"{JAVA}/Source.java"
_LEDGER = f"{JAVA}/Ledger.java"
_FILE = f"{JAVA}/FileStorage.java"
_PLAN = f"{JAVA}/Plan.java"
_REPORT = f"{JAVA}/Report.java"
_REPORTER = f"{JAVA}/Reporter.java"
_OCCASION = f"{JAVA}/Occasion.java"

JAVA_FAULTS = [
    Fault("java: below draws a remainder", _SOURCE, "            if ((value & mask) < bound) {\n                return value & mask;\n            }", "            return (value & mask) % bound;", VECTORS),
    Fault("java: large draws keep a bit too many", _SOURCE, "drawn[0] &= (byte) (0xff >> 8 * size - bits);\n            BigInteger", "BigInteger", VECTORS),
    Fault("java: an entry can be drawn twice", _SOURCE, "            moved.put(other, first == null ? position : first);\n", "", VECTORS),
    Fault("java: rejected bits count as no", _SOURCE, "                return AGAIN;\n", "                return NO;\n", VECTORS),
    Fault("java: the source is seeded", f"{JAVA}/SystemBytes.java", "            system.nextBytes(fresh);", "            new java.util.Random(7).nextBytes(fresh);", CHECKS),
    Fault("java: one buffer for all reports", f"{JAVA}/SystemBytes.java", "    private byte[] data = new byte[0];\n    private int position;", "    private static byte[] data = new byte[0];\n    private static int position;", CHECKS),
    Fault("java: always the first of several trips", _OCCASION, "candidates.get(Source.ofSystem().below(count))", "candidates.get(0)", CHECKS),
    Fault("java: the number of trips is always one", _OCCASION, "below(count)), count, grid)", "below(count)), Math.min(count, 1), grid)", CHECKS),
    Fault("java: any number of points", f"{JAVA}/Trajectory.java", "        if (size <= MOST_POINTS) {", "        if (size >= 0) {", VECTORS),
    Fault("java: trips before acceptance count", f"{JAVA}/Standing.java", "Math.max(end - recent, accepted)", "(end - recent)", VECTORS),
    Fault("java: times of a day are dates", f"{JAVA}/Standing.java", "Math.abs(arrival) >= UNDATED", "arrival == arrival", VECTORS),
    Fault("java: the group looks at the trips", _REPORT, "        int group = group(round, source);", "        int group = occasion.path.length == 0 ? 0 : group(round, source);", VECTORS),
    Fault("java: the id is not random", _REPORT, "System.arraycopy(source.take(ID_BYTES), 0, report, ID_AT, ID_BYTES);", "", VECTORS),
    Fault("java: the window is not sent", _REPORT, "(byte) (window >> 8 * (WINDOW_BYTES - 1 - i))", "(byte) 0", VECTORS),
    Fault("java: sent without a delay", _REPORTER, "return Source.ofSystem().below(most + 1);", "return 0;", CHECKS),
    Fault("java: grr lies skip the wrong item", f"{JAVA}/Grr.java", "lie < truth ? lie : lie + 1", "lie", VECTORS),
    Fault("java: oue sends the true bit always", f"{JAVA}/Oue.java", "source.below(2) == 1", "source.below(2) >= 0", VECTORS),
    Fault("java: privset misses are as likely as hits", f"{JAVA}/PrivSet.java", "j > 0 ? numerator : denominator", "numerator", VECTORS),
    Fault("java: privset does not fill up short sets", f"{JAVA}/PrivSet.java", "            own[i] = domain + i - items.length;", "            own[i] = domain;", VECTORS),
    Fault("java: plans that leak are answered", _REPORTER, "        if (!plan.isPrivate()) {", "        if (false) {", VECTORS),
    Fault("java: half of an id is enough", _PLAN, "        if (!plan.id.equals(planId)) {", "        if (!plan.id.startsWith(planId.substring(0, 32))) {", CHECKS),
    Fault("java: other coordinates are answered", _REPORTER, "!crs.equals(plan.crs)", "false", CHECKS),
    Fault("java: rounds before the first", _REPORTER, "if (round < 0 || round > newest()) {", "if (round > newest()) {", CHECKS),
    Fault("java: budgets are not added up", _PLAN, "        if (Exact.exceeds(spent, epsilon)) {", "        if (false) {", VECTORS),
    Fault("java: extends names any earlier plan", _PLAN, "if (!extended.equals(earlier.get(\"extends\"))) {", "if (!ids.contains(extended)) {", CHAINS),
    Fault("java: any amount of work", _PLAN, "        if (work > MOST_WORK) {", "        if (false) {", VECTORS),
    Fault("java: escapes are read", f"{JAVA}/Json.java", "text.indexOf('\\\\') >= 0 || ", "", VECTORS),
    Fault("java: other spellings are read", f"{JAVA}/Json.java", "        if (!write(value).equals(text)) {", "        if (false) {", VECTORS),
    Fault("java: decimals need not be the shortest", f"{JAVA}/Json.java", "Decimals.rounded(exact, digits).compareTo(given) == 0", "true", CHECKS),
    Fault("java: forks are answered", _LEDGER, "            forked |= !plan.chain.contains(entry.plan);\n", "", VECTORS),
    Fault("java: a retry under another plan", _LEDGER, "if (entry.report == null || !entry.plan.equals(plan.id)) {", "if (entry.report == null) {", VECTORS),
    Fault("java: a fresh draw instead of a retry", _LEDGER, "                answer[0] = earlier.report;", "                answer[0] = draw.report(0, trips);", VECTORS),
    Fault("java: no limit", _LEDGER, "        if (spent.add(cost).compareTo(limit) > 0) {", "        if (false) {", VECTORS),
    Fault("java: the limit cannot be reached", _LEDGER, "spent.add(cost).compareTo(limit) > 0) {", "spent.add(cost).compareTo(limit) >= 0) {", VECTORS),
    Fault("java: a limit can only be raised", _LEDGER, "book.limit = newLimit == null ? book.limit : newLimit;", "book.limit = newLimit == null ? book.limit : newLimit.max(text == null ? newLimit : book.limit);", CHECKS),
    Fault("java: windows cost nothing", f"{JAVA}/Book.java", "            sum = sum.plus(row.costs());\n", "", VECTORS),
    Fault("java: a window is answered again", _LEDGER, "            row.last = window;\n", "", VECTORS),
    Fault("java: no lifetime", _LEDGER, ".compareTo(plan.standing.lifetime) > 0) {\n                throw", ".signum() < 0) {\n                throw", VECTORS),
    Fault("java: the phase is drawn anew", _LEDGER, "            if (book.row(plan) != null) {\n                return false;\n            }", "            book.rows.remove(book.row(plan));", VECTORS),
    Fault("java: nothing is written", _LEDGER, "            return work.on(book) ? book.write() : null;", "            work.on(book);\n            return null;", VECTORS),
    Fault("java: what cannot be read is empty", f"{JAVA}/Book.java", "            throw new IOException(\"the ledger cannot be read: \" + wrong.getMessage());", "            return new Book(BigDecimal.valueOf(5));", CHECKS),
    Fault("java: copies and hard links are read", _FILE, "if (end < 0 || !text.substring(0, end).equals(head())) {", "if (end < 0) {", CHECKS + " " + LINKS),
    Fault("java: links are not followed", _FILE, "this.file = file.getCanonicalFile();", "this.file = file.getAbsoluteFile();", LINKS),
    Fault("java: links to nothing are files", _FILE, "if (names != null && Arrays.asList(names).contains(file.getName())) {", "if (names == null) {", LINKS),
    Fault("java: a removed lock is not noticed", _FILE, "                if (!Arrays.equals(bytesOf(lockFile), mark)) {", "                if (mark == null) {", CHECKS),
    Fault("java: threads at once", _FILE, "            while (!BUSY.add(file)) {", "            while (!BUSY.add(file) && file == null) {", CHECKS),
    Fault("java: others may read the ledger", _FILE, "                temporary.setReadable(false, false);\n", "", LINKS),
    Fault("java: any promise is believed", f"{JAVA}/Shuffled.java", "if (found > Double.parseDouble(delta.toString())) {", "if (found > 1) {", VECTORS),
    Fault("java: forged reports hide others", f"{JAVA}/Shuffled.java", "return honest.multiply(BigDecimal.valueOf(batch))", "return BigDecimal.ONE.multiply(BigDecimal.valueOf(batch))", VECTORS),
    Fault("java: the tail of coins is left away", f"{JAVA}/Accountant.java", "alpha * SLACK - (e - 1) * tail", "alpha * SLACK - 2 * (e - 1) * tail", VECTORS),
    Fault("java: eps0 of shuffled answers is not counted", _LEDGER, "spent.local, costs.local, book.localLimit()", "BigDecimal.ZERO, BigDecimal.ZERO, book.localLimit()", VECTORS),
    Fault("java: deltas are not added", _LEDGER, "spent.delta, costs.delta, MOST_DELTA", "BigDecimal.ZERO, costs.delta, MOST_DELTA", VECTORS),
    Fault("java: any eps0 of one answer", _LEDGER, "plan.epsilon.compareTo(book.mostLocal) > 0", "false", VECTORS),
    Fault("java: shuffled plans are answered against the person's will", _LEDGER, "plan.shuffled != null && !book.shuffled", "false", VECTORS),
    Fault("java: the total of a lifetime is not agreed to", _LEDGER, "checkLimits(book, total);", "", VECTORS),
    Fault("java: shuffled reports are not sealed", _REPORTER, "        if (plan.shuffled == null) {\n            return report;", "        if (plan != null) {\n            return report;", f"{TESTED}::test_a_shuffled_report_goes_to_the_shuffler_alone"),
    Fault("java: a duplicate says that a shuffler holds it", _REPORTER, "plan.shuffled == null && before", "before", f"{TESTED}::test_a_shuffled_report_goes_to_the_shuffler_alone"),
    Fault("java: a shuffled report goes to the campaign", _REPORTER, "        if (plan.shuffled == null) {\n            if (campaign == null)", "        if (campaign != null) {\n            if (campaign == null)", f"{TESTED}::test_a_shuffled_report_goes_to_the_shuffler_alone"),
    Fault("java: times of an extension count", f"{JAVA}/cli/Gpx.java", "        if (!space.equals(namespace)) {\n            return;\n        }\n        if (name.equals(\"time\")", "        if (name.equals(\"time\")", f"{TESTED}::test_a_time_of_a_file_is_a_moment_in_any_zone"),
    Fault("java: document types are read", f"{JAVA}/cli/Gpx.java", "factory.setFeature(NO_DOCTYPE, true);", "factory.setFeature(NO_DOCTYPE, false);", f"{TESTED}::test_a_document_type_is_not_read"),
    Fault("java: zones turn the other way", f"{JAVA}/cli/Moments.java", "(zone.charAt(0) == '-' ? -60 : 60)", "(zone.charAt(0) == '-' ? 60 : -60)", f"{TESTED}::test_a_time_of_a_file_is_a_moment_in_any_zone"),
    Fault("java: the program sends at once", f"{JAVA}/cli/Main.java", "wait(given == null ? reporter.delay() : reporter.delay(seconds(given)));", "wait(0);", f"{TESTED}::test_the_moment_of_sending_is_random"),
    Fault("java: the text is not replaced", _FILE, "            if (!temporary.renameTo(file)) {", "            if (temporary == null) {", CHECKS),
]  # fmt: skip

_AUDIT = "src/ldptrace/audit"
_CLIENT = "tests/audit/test_client.py"

DRIVEN_FAULTS = [
    Fault("plan: extends names any earlier plan", "src/ldptrace/protocol/plan.py", "self.extends not in self._earlier[-1:]:", "self.extends not in self._earlier:", CHAINS),
    Fault("js: extends names any earlier plan", "clients/js/src/plan.js", "if (ids.at(-1) !== data.extends)", "if (!ids.includes(data.extends))", CHAINS),
    Fault("audit: repeated ids are not seen", f"{_AUDIT}/client.py", "    repeated = len(ids) < ids.total()", "    repeated = False", _CLIENT),
    Fault("audit: repeated ids of its own client are not seen", f"{_AUDIT}/system.py", "    if len(ids) < reports:", "    if False:", "tests/audit/test_source.py"),
    Fault("audit: trips without dates only", f"{_AUDIT}/system.py", "begin + INTERVAL * k) for", "INTERVAL * k) for", _CLIENT),
    Fault("audit: short trips only", f"{_AUDIT}/system.py", "times = -(-FIXES // len(points))", "times = 1", _CLIENT),
    Fault("audit: the ledger is not asked", f"{_AUDIT}/ledger.py", 'if step.do == "report" and result != step.result:', "if False:", "tests/audit/test_ledger.py"),
    Fault("audit: restarts are none", f"{_AUDIT}/ledger.py", "        device.restart()\n", "", "tests/audit/test_ledger.py"),
    Fault("audit: the group is not compared", f"{_AUDIT}/client.py", "chance > ALPHA, detail)", "True, detail)", _CLIENT),
]  # fmt: skip
