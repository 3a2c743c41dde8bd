package org.ldptrace.device;

import java.io.File;
import java.io.FileOutputStream;
import java.io.IOException;
import java.security.Provider;
import java.security.SecureRandom;
import java.security.SecureRandomSpi;
import java.security.Security;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;

/** What no vector can show: the random source, refusals of a device, files. Prints what fails, and "done". */
public final class Checks {
    private static final List<Trajectory> WALK = Collections.singletonList(
            new Trajectory().add(-8.69, 41.01, 0).add(-8.41, 41.39, 600).add(3, 3, 700).add(0.1, 5.9, 900));

    private final Plan plan;
    private final Plan other;
    private final File folder;

    private Checks(Plan plan, Plan other, File folder) {
        this.plan = plan;
        this.other = other;
        this.folder = folder;
    }

    /** Arguments: files of two different plans, and an empty folder. */
    public static void main(String[] arguments) throws Exception {
        Plan plan = Plan.read(FileStorage.bytesOf(new File(arguments[0])));
        Plan other = Plan.read(FileStorage.bytesOf(new File(arguments[1])));
        Checks checks = new Checks(plan, other, new File(arguments[2]));
        checks.source();
        checks.delays();
        checks.refusals();
        checks.trajectories();
        checks.decimals();
        checks.files();
        checks.threads();
        System.out.println("done");
    }

    private static void expect(String what, boolean truth) {
        if (!truth) {
            System.out.println("FAILED " + what);
        }
    }

    /** How long a report waits is drawn anew, from all the time there is. */
    private void delays() throws PlanRefused {
        Reporter reporter = fresh();
        Set<Integer> usual = new HashSet<>();
        Set<Integer> few = new HashSet<>();
        for (int i = 0; i < 200; i++) {
            usual.add(reporter.delay());
            few.add(reporter.delay(3));
        }
        expect("delays differ", usual.size() > 150 && Collections.max(usual) > 3000 && Collections.max(usual) <= 3600);
        expect("all delays occur", few.equals(new HashSet<>(Arrays.asList(0, 1, 2, 3))));
        expect("no delay", reporter.delay(0) == 0);
    }

    private Reporter fresh() throws PlanRefused {
        return new Reporter(plan, new Ledger(new Vectors.Memory()), null);
    }

    // -- the random source -------------------------------------------------------------------------------------

    /** The system's source, written down. */
    public static final class Watched extends SecureRandomSpi {
        private static final long serialVersionUID = 1L;
        private static final SecureRandom REAL = new SecureRandom();
        static final List<byte[]> HANDED = new ArrayList<>();

        @Override
        protected void engineSetSeed(byte[] seed) {
            HANDED.add(null);
        }

        @Override
        protected void engineNextBytes(byte[] bytes) {
            REAL.nextBytes(bytes);
            HANDED.add(bytes.clone());
        }

        @Override
        protected byte[] engineGenerateSeed(int count) {
            return REAL.generateSeed(count);
        }
    }

    /** Every report follows from fresh bytes of the system, and from nothing else. */
    private void source() throws Exception {
        Watched.REAL.nextInt();
        Provider provider = new Provider("Watched", 1.0, "for tests") {
            private static final long serialVersionUID = 1L;
        };
        provider.put("SecureRandom.Watched", Watched.class.getName());
        Security.insertProviderAt(provider, 1);
        Set<String> seen = new HashSet<>();
        for (int draw = 0; draw < 50; draw++) {
            Watched.HANDED.clear();
            byte[] report = fresh().report(WALK);
            expect("the source is not seeded", !Watched.HANDED.contains(null));
            byte[] handed = joined(Watched.HANDED);
            // The first piece chose among one trip: nothing. The report follows from the rest, read in order.
            Vectors.Replay replay = new Vectors.Replay(handed);
            byte[] again = Report.draw(plan, 0, 0, Occasion.of(WALK.get(0), 1, plan.grid), new Source(replay));
            expect("a report follows from the system's bytes", Arrays.equals(again, report));
            int last = Watched.HANDED.get(Watched.HANDED.size() - 1).length;
            expect("no byte is read in vain", handed.length - replay.position() < last);
            expect("bytes are fresh", seen.add(Bytes.hex(handed)));
        }
        Reporter reporter = fresh();
        byte[] first = reporter.report(WALK);
        Watched.HANDED.clear();
        expect("a retry is the same", Arrays.equals(first, reporter.report(Collections.<Trajectory>emptyList())));
        expect("a retry draws nothing", Watched.HANDED.isEmpty());
        Reporter poor = new Reporter(plan, new Ledger(new Vectors.Memory(), "0.5"), null);
        expect("too expensive", "plan-over-limit".equals(Vectors.refusal(() -> poor.report(WALK))));
        expect("a refusal draws nothing", Watched.HANDED.isEmpty());
        pieces();
        Security.removeProvider("Watched");
    }

    /** The stream is read in order, whatever the sizes of the pieces. */
    private static void pieces() {
        Watched.HANDED.clear();
        SystemBytes bytes = new SystemBytes();
        List<byte[]> taken = new ArrayList<>();
        for (int count : new int[] {0, 1, 16, 495, 1, 511, 512, 513, 70000, 3, 700, 0, 5}) {
            taken.add(bytes.take(count));
            expect("a piece has its size", taken.get(taken.size() - 1).length == count);
        }
        byte[] all = joined(taken);
        expect("pieces come in order", Arrays.equals(all, Arrays.copyOf(joined(Watched.HANDED), all.length)));
    }

    private static byte[] joined(List<byte[]> pieces) {
        int size = 0;
        for (byte[] piece : pieces) {
            size += piece.length;
        }
        byte[] all = new byte[size];
        int position = 0;
        for (byte[] piece : pieces) {
            System.arraycopy(piece, 0, all, position, piece.length);
            position += piece.length;
        }
        return all;
    }

    // -- refusals and odd trajectories -------------------------------------------------------------------------

    private void refusals() throws Exception {
        Vectors.Memory storage = new Vectors.Memory();
        Ledger ledger = new Ledger(storage, "1");
        Reporter one = new Reporter(plan, ledger, plan.crs);
        byte[] report = one.report(WALK);
        expect("no such round", "plan-no-such-round".equals(Vectors.refusal(() -> one.report(WALK, 1, 0))));
        expect("no round before the first", "plan-no-such-round".equals(Vectors.refusal(() -> one.report(WALK, -1, 0))));
        expect("over the limit", "plan-over-limit".equals(Vectors.refusal(() -> new Reporter(other, ledger, null).report(WALK))));
        one.sent(new byte[report.length]);
        expect("another report was sent", Arrays.equals(one.report(WALK), report));
        one.sent(report);
        expect("answered", "plan-answered".equals(Vectors.refusal(() -> one.report(WALK))));
        expect("other coordinates", "plan-other-coordinates".equals(Vectors.refusal(() -> new Reporter(plan, ledger, "EPSG:1"))));
        String id = plan.id.substring(0, 63) + (plan.id.endsWith("0") ? "1" : "0");
        String document = plan.document();
        expect("another plan", "plan-changed".equals(Vectors.refusal(() -> Plan.read(Vectors.bytes(document), id))));
        expect("a new limit", new Ledger(storage, "7").limit().equals("7"));
        expect("the limit is kept", new Ledger(storage).limit().equals("1"));
        Vectors.Memory lower = new Vectors.Memory();
        expect("two plans", Vectors.refusal(() -> new Reporter(plan, new Ledger(lower, "9"), null).report(WALK)) == null);
        Reporter later = new Reporter(other, new Ledger(lower, "1"), null);
        expect("a limit can be lowered", "plan-over-limit".equals(Vectors.refusal(() -> later.report(WALK))));
        for (String wrong : new String[] {"", "-1", "1e3", "01", "one", "1.0", "0.1234567890123456789"}) {
            expect("a limit " + wrong, isIllegal(() -> new Ledger(storage, wrong)));
        }
    }

    private static boolean isIllegal(Vectors.Action action) {
        try {
            action.run();
            return false;
        } catch (IllegalArgumentException wanted) {
            return true;
        } catch (Exception other) {
            return false;
        }
    }

    /** Whatever a trajectory is, it is answered with one size. */
    private void trajectories() throws Exception {
        double[] odd = {Double.NaN, Double.POSITIVE_INFINITY, Double.NEGATIVE_INFINITY, 1e300, -1e300, 0, -0.0};
        List<Trajectory> trips = new ArrayList<>();
        trips.add(new Trajectory());
        for (double x : odd) {
            for (double t : odd) {
                trips.add(new Trajectory().add(x, -x, t).add(t, x, x));
            }
        }
        Trajectory longest = new Trajectory();
        for (int i = 0; i < 100000; i++) {
            longest.add(i % 7, i % 3, i);
        }
        trips.add(longest);
        int size = Report.size(plan.rounds.get(0));
        for (Trajectory trip : trips) {
            expect("an odd trajectory", fresh().report(Collections.singletonList(trip)).length == size);
        }
        expect("all trips at once", fresh().report(trips).length == size);
        expect("no trips", fresh().report(new ArrayList<>()).length == size);
        expect("at most 4,096 points", longest.thinned().size() == 4096 && longest.thinned().t(4095) == 99999);
        Set<String> first = new HashSet<>();
        for (int draw = 0; draw < 200; draw++) {
            first.add(String.valueOf(Occasion.of(trips, plan.grid).departure));
        }
        expect("not always the same of several trips", first.size() > 1);
        expect("the number of trips", Occasion.of(trips, plan.grid).trips == trips.size());
    }

    /** Of all decimals that read back as a double, one is its name. */
    private void decimals() {
        for (String right : new String[] {"0", "0.1", "-8.7", "0.30000000000000004", "100000000000000000000000", "0.000001"}) {
            expect("the decimal " + right, Json.isDecimal(right));
        }
        String[] wrong = {"0.30000000000000005", "0.10", "-0", "0.1000000000000000055", "01", "1.", ".5", "1e3", "99999999999999991611392"};
        for (String text : wrong) {
            expect("no decimal " + text, !Json.isDecimal(text));
        }
    }

    // -- files -------------------------------------------------------------------------------------------------

    private void files() throws Exception {
        File file = new File(folder, "deep/er/ledger.json");
        Reporter reporter = new Reporter(plan, new Ledger(new FileStorage(file)), null);
        byte[] report = reporter.report(WALK);
        expect("a file remembers", Arrays.equals(report, new Reporter(plan, new Ledger(new FileStorage(file)), null).report(WALK)));
        expect("no other file is left", Arrays.asList(file.getParentFile().list()).size() == 2);
        byte[] whole = FileStorage.bytesOf(file);
        for (int cut : new int[] {0, 1, whole.length / 2, whole.length - 1}) {
            write(file, Arrays.copyOf(whole, cut));
            expect("a cut ledger of " + cut + " bytes is refused", fails(reporter));
        }
        write(file, new String(whole, Vectors.UTF8).replace("\"round\":0", "\"round\":-1").getBytes(Vectors.UTF8));
        expect("a wrong ledger is refused", fails(reporter));
        write(new File(folder, "copy.json"), whole);
        expect("a copy is refused", fails(new Reporter(plan, new Ledger(new FileStorage(new File(folder, "copy.json"))), null)));
        write(file, whole);
        expect("the ledger itself is read", Arrays.equals(report, reporter.report(WALK)));
        removedLock(new File(folder, "locked.json"));
        File folderItself = new File(folder, "isfolder.json");
        expect("a folder is no ledger", folderItself.mkdir() && fails(new Reporter(plan, new Ledger(new FileStorage(folderItself)), null)));
    }

    /** A lock that is removed while it is held: the report is not given away. */
    private void removedLock(File file) throws Exception {
        FileStorage storage = new FileStorage(file);
        Storage careless = change -> storage.change(text -> {
            String changed = change.of(text);
            expect("the lock is a file", new File(file.getPath() + ".lock").delete());
            return changed;
        });
        expect("without its lock nothing is given away", fails(new Reporter(plan, new Ledger(careless), null)));
        new Reporter(plan, new Ledger(storage), null).report(WALK);
    }

    private static boolean fails(Reporter reporter) throws PlanRefused {
        try {
            reporter.report(WALK);
            return false;
        } catch (IOException wanted) {
            return true;
        }
    }

    private static void write(File file, byte[] bytes) throws IOException {
        FileOutputStream out = new FileOutputStream(file);
        out.write(bytes);
        out.close();
    }

    /** Threads that answer one plan at once give one answer, and no ledger is lost. */
    private void threads() throws Exception {
        File file = new File(folder, "threads.json");
        Set<String> reports = Collections.synchronizedSet(new HashSet<>());
        List<Thread> threads = new ArrayList<>();
        for (int i = 0; i < 16; i++) {
            Plan asked = i % 2 == 0 ? plan : other;
            threads.add(new Thread(() -> {
                try {
                    reports.add(Bytes.hex(new Reporter(asked, new Ledger(new FileStorage(file)), null).report(WALK)));
                } catch (Exception wrong) {
                    reports.add(wrong.toString());
                }
            }));
        }
        for (Thread thread : threads) {
            thread.start();
        }
        for (Thread thread : threads) {
            thread.join();
        }
        expect("two plans, two reports: " + reports, reports.size() == 2);
        File turns = new File(folder, "turns.json");
        CountDownLatch second = new CountDownLatch(1);
        Thread late = new Thread(() -> {
            try {
                new FileStorage(turns).change(text -> null);
            } catch (Exception wrong) {
                System.out.println("FAILED a thread waits for its turn: " + wrong);
            } finally {
                second.countDown();
            }
        });
        new FileStorage(turns).change(text -> {
            late.start();
            try {
                expect("a thread waits for its turn", !second.await(500, TimeUnit.MILLISECONDS));
            } catch (InterruptedException stopped) {
                throw new IOException(stopped);
            }
            return null;
        });
        late.join();
    }
}
