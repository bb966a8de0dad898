package io.millrace.launcher;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.millrace.proxy.admin.AdminException;
import io.millrace.proxy.admin.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.ConfigControl.Result;
import io.millrace.proxy.admin.ConfigControl.Setting;
import io.millrace.proxy.admin.ConfigInspector;
import io.millrace.proxy.admin.ConfigInspector.Difference;
import io.millrace.proxy.admin.RestartResource.RestartReport;
import io.millrace.proxy.config.ConfigKeys;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.worker.control.ConfigSource;
import io.millrace.worker.control.SettingChange;
import java.io.IOException;
import java.nio.ByteBuffer;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.nio.file.attribute.UserDefinedFileAttributeView;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.io.TempDir;

/** Every way to change the configuration, with a worker that only says yes or no. */
@Timeout(60)
class ConfigChangesTest {
    private static final String FILE = """
            # Ours.
            listen: ["127.0.0.1:0"]
            remap: [{map: /, to: http://origin.example/}]
            limits:
              connections: 1000 # of two
            """;

    @TempDir
    Path directory;

    private final CannedWorker worker = new CannedWorker();
    private Path file;
    private RunningConfig running;
    private ConfigChanges changes;
    private ConfigInspection inspection;

    /** Answers a change when it may, with what it was told to. */
    private static final class CannedWorker implements ServingWorker {
        private final ConcurrentLinkedQueue<ConfigSource> reloaded = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<ConfigSource> rolled = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<Long> drainNanos = new ConcurrentLinkedQueue<>();
        private final ConcurrentLinkedQueue<WorkerStarter> starters = new ConcurrentLinkedQueue<>();
        private volatile List<SettingChange> answers = List.of();
        private volatile CompletableFuture<Void> gate = CompletableFuture.completedFuture(null);
        private volatile String obstacle;
        private volatile String rollObstacle;

        /** So many of the next reloads are not answered in time. */
        private final AtomicInteger late = new AtomicInteger();

        @Override
        public void start(WorkerPlan first, long drainNanos) {}

        @Override
        public CompletableFuture<List<SettingChange>> reload(ConfigSource changed) {
            reloaded.add(changed);
            if (late.getAndDecrement() > 0) {
                return CompletableFuture.failedFuture(new TimeoutException("the worker did not answer within 30 s"));
            }
            return answer().thenApply(nothing -> answers);
        }

        @Override
        public CompletableFuture<Void> roll(WorkerPlan changed, long drains) {
            rolled.add(changed.config());
            drainNanos.add(drains);
            starters.add(changed.starter());
            return rollObstacle == null ? answer() : CompletableFuture.failedFuture(new IOException(rollObstacle));
        }

        private CompletableFuture<Void> answer() {
            return obstacle == null ? gate : CompletableFuture.failedFuture(new IllegalStateException(obstacle));
        }
    }

    private void run(String text) throws IOException, LaunchException {
        file = Files.writeString(directory.resolve("millrace.yaml"), text);
        launch(Map.of());
    }

    /** A launcher, or the next one over the same state directory. */
    private void launch(Map<String, String> set) throws LaunchException {
        running = launched("state", set, worker);
        changes = new ConfigChanges(running);
        inspection = new ConfigInspection(running);
    }

    private RunningConfig launched(String stateName, Map<String, String> set, ServingWorker serving)
            throws LaunchException {
        ConfigReader reader = ConfigReader.of(new LaunchOptions(false, null, List.of(), file, directory, set), null);
        StateDirectory state = StateDirectory.resolve(directory.resolve(stateName), Map.of(), directory, 0);
        RunningConfig launched = new RunningConfig(reader, new Workplace(state, "none"), serving);
        ConfigReader.Reading reading = reader.read();
        launched.begin(reading, new WorkerPlan(reading.source(), unused -> null, null));
        return launched;
    }

    @AfterEach
    void close() {
        changes.close();
    }

    private static ReloadReport done(CompletionStage<ReloadReport> change) {
        return change.toCompletableFuture().join();
    }

    private static Map<String, Result> results(ReloadReport report) {
        Map<String, Result> results = new TreeMap<>();
        for (Setting setting : report.settings()) {
            results.put(setting.key(), setting.result());
        }
        return results;
    }

    private int connections() {
        return running.config().limits().connections();
    }

    private boolean cacheEnabled() {
        return running.config().values().get(ConfigKeys.CACHE_ENABLED);
    }

    private static ProxyConfig read(ConfigSource source) {
        return source.load().config();
    }

    @Test
    void setsSeveralKeysAtOnceOverTheFile() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "false"), false));

        assertEquals(Map.of("limits.connections", Result.APPLIED, "cache.enabled", Result.APPLIED), results(report));
        assertEquals(2000, connections());
        assertEquals(FILE, Files.readString(file));
        assertEquals(2000, read(worker.reloaded.remove()).limits().connections());
    }

    @Test
    void setsNoneWhenOneIsWrong() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "maybe"), false));

        assertFalse(report.ok());
        assertEquals(Map.of("limits.connections", Result.REJECTED, "cache.enabled", Result.REJECTED), results(report));
        assertEquals(
                "config set cache.enabled: 'maybe' is neither true nor false",
                report.problems().get(0).text());
        assertEquals(1000, connections());
        assertTrue(worker.reloaded.isEmpty());
    }

    @Test
    void rollsAWorkerForWhatOneCannotTakeOver() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("cache.ram_size", "64MiB", "limits.connections", "5"), false));

        assertEquals(Map.of("cache.ram_size", Result.ROLLED, "limits.connections", Result.APPLIED), results(report));
        assertEquals(5, read(worker.rolled.remove()).limits().connections());
    }

    @Test
    void keepsWhatRanWhenTheNewWorkerDoesNotComeUp() throws Exception {
        run(FILE);
        worker.obstacle = "the worker is starting; try again";
        ReloadReport report = done(changes.set(Map.of("cache.ram_size", "64MiB"), false));

        assertEquals(
                List.of(new Setting("cache.ram_size", Result.REJECTED, "the worker is starting; try again")),
                report.settings());
        assertEquals(List.of(), inspection.diff().pending());
        assertEquals(1, inspection.history().size());
    }

    @Test
    void twoThatAreAskedForAtOnceKnowOfEachOther() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CompletionStage<ReloadReport> one = changes.set(Map.of("limits.connections", "2000"), false);
        CompletionStage<ReloadReport> other = changes.set(Map.of("cache.enabled", "false"), false);
        worker.gate.complete(null);

        assertTrue(done(one).ok() && done(other).ok());
        assertEquals(2000, connections());
        assertFalse(cacheEnabled());
    }

    @Test
    void aRestartComesAfterTheChangeBeforeItAndTakesWhatThatMade() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CompletionStage<ReloadReport> change = changes.set(Map.of("limits.connections", "2000"), false);
        CompletionStage<RestartReport> restart = new WorkerRestart(changes, running, () -> WorkerStatus.NONE).restart();
        worker.gate.complete(null);

        assertTrue(done(change).ok());
        restart.toCompletableFuture().join();
        assertEquals(2000, read(worker.rolled.remove()).limits().connections());
    }

    @Test
    void aRestartThatFailsSaysWhy() throws Exception {
        run(FILE);
        worker.obstacle = "the worker is starting; try again";
        Throwable failure = new WorkerRestart(changes, running, () -> WorkerStatus.NONE)
                .restart()
                .handle((report, why) -> why)
                .toCompletableFuture()
                .join();

        AdminException refused = (AdminException) failure.getCause();
        assertEquals("restart-failed", refused.code());
        assertEquals("the worker was not replaced: the worker is starting; try again", refused.getMessage());
    }

    @Test
    void refusesMoreChangesThanMayWait() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        List<CompletionStage<ReloadReport>> asked = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            asked.add(changes.set(Map.of("limits.connections", Integer.toString(2000 + i)), false));
        }
        worker.gate.complete(null);
        List<Throwable> refused = new ArrayList<>();
        for (CompletionStage<ReloadReport> one : asked) {
            refused.add(one.handle((report, failure) -> failure)
                    .toCompletableFuture()
                    .join());
        }
        refused.removeIf(Objects::isNull);
        assertFalse(refused.isEmpty());
        assertEquals("busy", ((AdminException) refused.get(0)).code());
    }

    @Test
    void whatOnlyALauncherCanUseIsNotSetForAsLongAsThisOneLives() throws Exception {
        run(FILE);
        ReloadReport report = done(changes.set(Map.of("worker.event_loops", "3"), false));
        assertTrue(report.settings().get(0).detail().contains("add --save"), report::toString);

        assertEquals(
                Map.of("worker.event_loops", Result.RELAUNCH),
                results(done(changes.set(Map.of("worker.event_loops", "3"), true))));
        done(changes.set(Map.of("cache.ram_size", "64MiB"), false));
        assertEquals(
                0,
                read(worker.rolled.remove()).worker().eventLoops(),
                "another worker of this launcher has as many loops as it has sockets");
        ConfigInspector.KeyValue setting =
                inspection.settings(List.of("worker.event_loops")).get(0);
        assertEquals("3", setting.value());
        assertEquals("0", setting.inUse());
    }

    /** PATH is what every environment has. */
    @Test
    void aValueFromTheEnvironmentIsShownWithItsVariable() throws Exception {
        run(FILE + "admin: {token_file: \"/x${PATH}\"}\n");
        ConfigInspector.KeyValue setting =
                inspection.settings(List.of("admin.token_file")).get(0);
        assertEquals("/x" + System.getenv("PATH"), setting.value());
        assertEquals(List.of("PATH"), setting.variables());
        assertTrue(setting.place().endsWith("millrace.yaml:" + (FILE.lines().count() + 1) + ":9"), setting::place);
        assertEquals(
                List.of("PATH"),
                inspection.diff().differences().stream()
                        .filter(difference -> difference.key().equals("admin.token_file"))
                        .findFirst()
                        .orElseThrow()
                        .variables());
        done(changes.set(Map.of("limits.connections", "9"), false));
        assertEquals(
                List.of(),
                inspection.settings(List.of("limits.connections")).get(0).variables());
    }

    @Test
    void aRolledWorkerBeatsAsOftenAsThisLauncherExpects() throws Exception {
        run(FILE);
        Files.writeString(
                file, FILE + "worker: {heartbeat_interval: 30s, heartbeat_timeout: 60s}\ncache: {ram_size: 64MiB}\n");
        assertEquals(Result.RELAUNCH, results(done(changes.reload())).get("worker.heartbeat_interval"));
        WorkerCommand command = (WorkerCommand) worker.starters.remove();

        assertEquals(64 << 20, command.config().cache().ramBytes());
        assertEquals(1000, command.config().worker().heartbeatIntervalMillis(), "its patience is 10 s");
    }

    /** They let nobody through to where it listens: that stays until it is started anew, and so does what they know of it. */
    @Test
    void workersKnowWhereThisLauncherListens() throws Exception {
        String admin = "admin: {listen: '127.0.0.1:%d', token_file: /token}\n";
        run(FILE + admin.formatted(8011));
        Files.writeString(file, FILE + admin.formatted(8012));
        assertEquals(Result.RELAUNCH, results(done(changes.reload())).get("admin.listen"));
        assertEquals(8011, adminPort(worker.reloaded.remove()));
        Files.writeString(file, FILE + "cache: {ram_size: 64MiB}\n");
        assertEquals(Result.RELAUNCH, results(done(changes.reload())).get("admin.listen"));
        assertEquals(8011, adminPort(worker.rolled.remove()));
    }

    private static int adminPort(ConfigSource source) {
        return Objects.requireNonNull(read(source).admin().listen()).port();
    }

    @Test
    void aWorkerThatHadAnotherConfigurationIsReplaced() throws Exception {
        run(FILE);
        worker.answers = List.of(
                new SettingChange("cache.ram_size", "rejected", "needs a new worker"),
                new SettingChange("limits.connections", "applied", ""));
        assertEquals(
                Map.of("limits.connections", Result.APPLIED),
                results(done(changes.set(Map.of("limits.connections", "2000"), false))));

        assertEquals(2000, read(worker.rolled.remove()).limits().connections());
        assertEquals(2000, connections());
    }

    @Test
    void aWorkerThatDoesNotAnswerInTimeIsReplacedByOneThatHasTheChange() throws Exception {
        run(FILE);
        worker.late.set(1);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000"), false));

        String detail = "was 1000, is 2000; the worker did not answer in time, a new one has it";
        assertEquals(List.of(new Setting("limits.connections", Result.ROLLED, detail)), report.settings());
        assertEquals(2000, read(worker.rolled.remove()).limits().connections());
        assertEquals(2000, connections());
    }

    @Test
    void aWorkerThatDoesNotAnswerInTimeGoesBackWhereNoOtherComesUp() throws Exception {
        run(FILE);
        worker.late.set(1);
        worker.rollObstacle = "exited with status 1";
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000"), false));

        String detail = "the worker did not answer in time, and no other came up: exited with status 1";
        assertEquals(List.of(new Setting("limits.connections", Result.REJECTED, detail)), report.settings());
        assertEquals(2000, read(worker.reloaded.remove()).limits().connections());
        assertEquals(1000, read(worker.reloaded.remove()).limits().connections(), "it goes back");
        assertEquals(1000, connections());
    }

    @Test
    void whatIsNotKnownOfAWorkerIsNotCalledRejectedWithoutAWord() throws Exception {
        run(FILE);
        worker.late.set(2);
        worker.rollObstacle = "exited with status 1";
        ReloadReport report = done(changes.set(Map.of("limits.connections", "2000"), false));

        String detail = report.settings().get(0).detail();
        assertTrue(
                detail.endsWith(
                        "it may have taken the change over, or do so yet, until millctl server restart replaces it"),
                detail);
    }

    @Test
    void resetGivesTheFileBack() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "false"), false));
        assertFalse(
                done(changes.reset(List.of("limits.connections", "via.name"))).ok());
        assertEquals(2000, connections());

        assertTrue(done(changes.reset(List.of("limits.connections"))).ok());
        assertEquals(1000, connections());
        assertFalse(cacheEnabled());
        assertTrue(done(changes.reset(List.of())).ok());
        assertTrue(cacheEnabled());
    }

    @Test
    void aReloadKeepsWhatWasSetUnlessTheFileChangesTheSameKey() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000", "cache.enabled", "false"), false));
        Files.writeString(file, FILE + "via: {name: edge1}\n");
        assertEquals(Map.of("via.name", Result.APPLIED), results(done(changes.reload())));
        assertEquals(2000, connections());

        Files.writeString(file, FILE.replace("1000", "3000") + "via: {name: edge1}\n");
        ReloadReport report = done(changes.reload());
        assertEquals(3000, connections());
        assertEquals(
                List.of("limits.connections: the file has changed it, which wins over what config set had set"),
                report.notes());
        assertFalse(cacheEnabled());
    }

    @Test
    void aBrokenFileLeavesWhatWasSetAlone() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        Files.writeString(file, FILE.replace("1000", "0"));
        ReloadReport report = done(changes.reload());

        assertFalse(report.ok());
        assertEquals(
                file + ":5:16: limits.connections: 0 is below the limit of 1",
                report.problems().get(0).text());
        assertEquals(2000, connections());
        assertEquals(
                List.of("a reload would be rejected: "
                        + report.problems().get(0).text()),
                inspection.diff().notes());
    }

    @Test
    void aFileThatDoesNotGoWithWhatWasSetIsRejectedByTheNameOfBoth() throws Exception {
        run(FILE);
        done(changes.set(Map.of("cache.heuristic_min_lifetime", "2h"), false));
        Files.writeString(file, FILE + "cache: {heuristic_max_lifetime: 1h}\n");
        ReloadReport report = done(changes.reload());

        assertEquals(
                "config set cache.heuristic_min_lifetime: 2h is above the limit of heuristic_max_lifetime, 1h",
                report.problems().get(0).text());
    }

    @Test
    void theNextLauncherKnowsNothingOfWhatWasSet() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        changes.close();
        launch(Map.of());

        assertEquals(1000, connections());
        assertEquals(List.of(), inspection.diff().notes());
        assertEquals(List.of("start", "set", "start"), by());
    }

    private List<String> by() {
        return inspection.history().stream().map(ConfigInspector.Entry::by).toList();
    }

    @Test
    void savesIntoTheFileAndKeepsTheRestOfIt() throws Exception {
        run(FILE);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("rw-r-----"));
        done(changes.set(Map.of("limits.connections", "2000"), false));
        ReloadReport report = done(changes.set(Map.of("limits.connections", "3000", "via.name", "edge1"), true));

        assertEquals(List.of("written to " + file.toRealPath()), report.notes());
        assertEquals(FILE.replace("1000", "3000") + "via:\n  name: edge1\n", Files.readString(file));
        assertEquals("rw-r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        assertEquals(3000, connections());
        assertEquals(List.of(), inspection.diff().pending());
        assertTrue(done(changes.reload()).settings().isEmpty());
        assertTrue(done(changes.reset(List.of())).settings().isEmpty(), "it is in the file, and not over it");
    }

    /** Java reads attributes in the user's namespace alone; the access list is set and looked at from outside. */
    @Test
    void keepsTheAccessListAndTheAttributesOfTheFile() throws Exception {
        run(FILE);
        Files.setPosixFilePermissions(file, PosixFilePermissions.fromString("r--r-----"));
        UserDefinedFileAttributeView view = Files.getFileAttributeView(file, UserDefinedFileAttributeView.class);
        assumeTrue(
                Files.getFileStore(file).supportsFileAttributeView(UserDefinedFileAttributeView.class),
                "SKIPPED: the file system has no extended attributes");
        view.write("note", ByteBuffer.wrap("by hand".getBytes(StandardCharsets.UTF_8)));
        // Owner r, user 12345 r, group r, mask r, others nothing: linux/posix_acl_xattr.h.
        String list = "0200000001000400ffffffff020004003930000004000400ffffffff10000400ffffffff20000000ffffffff";
        python("os.setxattr(sys.argv[1], 'system.posix_acl_access', bytes.fromhex('" + list + "'))");

        assertTrue(done(changes.set(Map.of("limits.connections", "3000"), true)).ok());

        assertEquals(FILE.replace("1000", "3000"), Files.readString(file));
        assertEquals("r--r-----", PosixFilePermissions.toString(Files.getPosixFilePermissions(file)));
        ByteBuffer note = ByteBuffer.allocate(100);
        Files.getFileAttributeView(file, UserDefinedFileAttributeView.class).read("note", note);
        assertEquals("by hand", new String(note.array(), 0, note.position(), StandardCharsets.UTF_8));
        assertEquals(list, python("print(os.getxattr(sys.argv[1], 'system.posix_acl_access').hex())"));
        try (Stream<Path> left = Files.list(directory)) {
            assertEquals(
                    List.of(),
                    left.filter(path -> path.toString().endsWith("-new")).toList());
        }
    }

    private String python(String statement) throws IOException, InterruptedException {
        Process python = new ProcessBuilder("python3", "-c", "import os, sys\n" + statement, file.toString())
                .redirectErrorStream(true)
                .start();
        String said = new String(python.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
        assertEquals(0, python.waitFor(), said);
        return said.strip();
    }

    @Test
    void savesThroughALinkAndLeavesItOne() throws Exception {
        Path real = Files.writeString(directory.resolve("real.yaml"), FILE);
        file = Files.createSymbolicLink(directory.resolve("link.yaml"), real);
        launch(Map.of());
        assertTrue(done(changes.set(Map.of("limits.connections", "3000"), true)).ok());

        assertTrue(Files.isSymbolicLink(file));
        assertEquals(FILE.replace("1000", "3000"), Files.readString(real));
    }

    @Test
    void doesNotSaveIntoAFileThatIsNotWhatRuns() throws Exception {
        run(FILE);
        Files.writeString(file, FILE + "# more\n");
        assertNotSaved("has changed since it was loaded; reload first");
        done(changes.reload());
        done(changes.set(Map.of("via.name", "edge1"), false));
        done(changes.rollback(1));
        assertNotSaved("configuration 1 of the history runs, and not the file");
        assertEquals(FILE + "# more\n", Files.readString(file));
    }

    @Test
    void doesNotSaveWhatTheCommandLineDecides() throws Exception {
        run(FILE);
        changes.close();
        launch(Map.of("limits.connections", "7"));
        assertNotSaved("is set on the command line, which wins over the file");
    }

    @Test
    void doesNotSaveWhereTheFileIsNotEditedForCertain() throws Exception {
        run(FILE.replace("connections: 1000 # of two", "connections: &n 1000"));
        assertNotSaved(file + ":5:3: has an anchor or an alias; change it by hand, then reload");
        assertEquals(1000, connections());
    }

    private void assertNotSaved(String why) throws IOException {
        String before = Files.readString(file);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "3000"), true));
        assertFalse(report.ok());
        assertTrue(report.settings().get(0).detail().contains(why), report::toString);
        assertEquals(before, Files.readString(file));
        try (var names = Files.list(directory)) {
            assertTrue(names.noneMatch(name -> name.toString().endsWith("-new")));
        }
    }

    @Test
    void writesNothingWhenTheWorkerDoesNotTakeIt() throws Exception {
        run(FILE);
        worker.obstacle = "the worker is starting; try again";
        assertNotSaved("the worker is starting; try again");
    }

    @Test
    void aFileThatChangesWhileItIsSavedStaysAsItIs() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CompletionStage<ReloadReport> change = changes.set(Map.of("limits.connections", "3000"), true);
        while (worker.reloaded.isEmpty()) {
            Thread.onSpinWait();
        }
        Files.writeString(file, FILE + "# somebody else\n");
        worker.gate.complete(null);
        ReloadReport report = done(change);

        assertFalse(report.ok());
        assertTrue(report.notes().get(0).startsWith("in use, but not written"), report::toString);
        assertEquals(FILE + "# somebody else\n", Files.readString(file));
    }

    @Test
    void twoLaunchersOfOneFileDoNotWriteEachOthersChange() throws Exception {
        run(FILE);
        worker.gate = new CompletableFuture<>();
        CannedWorker another = new CannedWorker();
        another.gate = new CompletableFuture<>();
        try (ConfigChanges others = new ConfigChanges(launched("other", Map.of(), another))) {
            CompletionStage<ReloadReport> mine = changes.set(Map.of("limits.connections", "3000"), true);
            while (worker.reloaded.isEmpty()) {
                Thread.onSpinWait();
            }
            CompletionStage<ReloadReport> theirs = others.set(Map.of("limits.connections", "4000"), true);
            while (another.reloaded.isEmpty()) {
                Thread.onSpinWait();
            }
            worker.gate.complete(null);
            assertEquals(List.of("written to " + file.toRealPath()), done(mine).notes());
            assertEquals(FILE.replace("1000", "3000"), Files.readString(file));
            another.gate.complete(null);
            assertEquals(
                    List.of("in use, but not written, and the next reload takes it back: " + file.toRealPath()
                            + " has changed since it was loaded; reload first"),
                    done(theirs).notes());
            assertEquals(FILE.replace("1000", "3000"), Files.readString(file));
        }
    }

    @Test
    void saysWhatIsWrongWithAFileThatCannotBeSaved() throws Exception {
        run(FILE);
        Files.delete(file);
        ReloadReport report = done(changes.set(Map.of("limits.connections", "3000"), true));
        assertEquals(file + ": no such file", report.settings().get(0).detail());
    }

    @Test
    void planSaysWhatAReloadWouldCostAndDoesNothing() throws Exception {
        run(FILE);
        Path other = Files.writeString(
                directory.resolve("other.yaml"),
                FILE.replace("1000", "7") + "cache: {ram_size: 64MiB}\nworker: {event_loops: 3}\n");
        ReloadReport plan = done(changes.plan(other));

        assertEquals(
                Map.of(
                        "limits.connections",
                        Result.APPLIED,
                        "cache.ram_size",
                        Result.ROLLED,
                        "worker.event_loops",
                        Result.RELAUNCH),
                results(plan));
        Files.writeString(other, FILE.replace("1000", "many"));
        assertEquals(
                other + ":5:16: limits.connections: 'many' is not a whole number",
                done(changes.plan(other)).problems().get(0).text());
        assertTrue(done(changes.plan(null)).settings().isEmpty());
        assertTrue(worker.reloaded.isEmpty() && worker.rolled.isEmpty());
        assertEquals(1, inspection.history().size());
    }

    @Test
    void rollsBackWithoutTouchingTheFileUntilTheNextReload() throws Exception {
        run(FILE);
        Files.writeString(file, FILE.replace("1000", "2000"));
        done(changes.reload());
        done(changes.set(Map.of("cache.enabled", "false"), false));
        ReloadReport report = done(changes.rollback(1));

        assertEquals(Map.of("limits.connections", Result.APPLIED, "cache.enabled", Result.APPLIED), results(report));
        assertEquals(1000, connections());
        assertEquals(FILE.replace("1000", "2000"), Files.readString(file));
        List<Difference> pending = inspection.diff().pending();
        assertEquals("limits.connections", pending.get(0).key());
        assertEquals("2000", pending.get(0).after());
        assertTrue(inspection.diff().notes().contains("configuration 1 of the history runs in place of the file"));
        assertTrue(done(changes.reload()).notes().get(0).startsWith("the file runs in place of configuration 1"));
        assertEquals(2000, connections());
        assertEquals(List.of("start", "reload", "set", "rollback to 1", "reload"), by());
    }

    @Test
    void rollsBackToWhatRanBeforeAndFurtherWithEachTime() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        done(changes.set(Map.of("limits.connections", "3000"), false));
        done(changes.rollback(0));
        assertEquals(2000, connections());
        done(changes.rollback(0));
        assertEquals(1000, connections());
        assertEquals(List.of(), inspection.diff().notes(), "it is the file again");
        assertFalse(done(changes.rollback(99)).ok());
        assertFalse(done(changes.rollback(0)).ok(), "there is none before the first");
        assertEquals(1000, connections(), "never what was rolled back from");
    }

    @Test
    void comparesTwoConfigurationsOfTheHistory() throws Exception {
        run(FILE);
        done(changes.set(Map.of("limits.connections", "2000"), false));
        Difference difference = inspection.diff(1, 2).differences().get(0);
        assertEquals(
                "limits.connections 1000 2000",
                difference.key() + " " + difference.before() + " " + difference.after());
    }

    @Test
    void keepsAsManyConfigurationsAsItIsToldForThisUserOnly() throws Exception {
        run(FILE + "admin: {config_history: 2}\n");
        for (int i = 1; i <= 3; i++) {
            done(changes.set(Map.of("limits.connections", Integer.toString(i)), false));
        }
        assertEquals(
                List.of(3, 4),
                inspection.history().stream().map(ConfigInspector.Entry::number).toList());
        Path kept = directory.resolve("state/config-history");
        assertEquals("rwx------", PosixFilePermissions.toString(Files.getPosixFilePermissions(kept)));
        assertEquals("rw-------", PosixFilePermissions.toString(Files.getPosixFilePermissions(kept.resolve("4.json"))));
    }

    @Test
    void keepsFewerConfigurationsAsSoonAsItIsTold() throws Exception {
        run(FILE);
        for (int i = 1; i <= 3; i++) {
            done(changes.set(Map.of("limits.connections", Integer.toString(i)), false));
        }
        assertEquals(4, inspection.history().size());
        done(changes.set(Map.of("admin.config_history", "2"), false));
        assertEquals(2, inspection.history().size());
    }

    /** What drains does so in the time that holds when it begins, and not in that of its start. */
    @Test
    void aWorkerDrainsInTheTimeThatHoldsThen() throws Exception {
        run(FILE);
        done(changes.set(Map.of("timeouts.drain", "7s"), false));
        assertEquals(TimeUnit.SECONDS.toNanos(7), running.drainNanos());
        done(changes.set(Map.of("cache.ram_size", "64MiB"), false));
        done(changes.set(Map.of("timeouts.drain", "9s", "cache.ram_size", "65MiB"), false));
        assertEquals(List.of(TimeUnit.SECONDS.toNanos(7), TimeUnit.SECONDS.toNanos(9)), List.copyOf(worker.drainNanos));
    }

    @Test
    void aDamagedEntryOfTheHistoryIsInNobodysWay() throws Exception {
        run(FILE);
        Files.writeString(directory.resolve("state/config-history/1.json"), "{\"number\": 1, ");
        assertTrue(
                done(changes.set(Map.of("limits.connections", "2000"), false)).ok());
        assertEquals(List.of("set"), by());
        assertTrue(done(changes.rollback(1)).problems().get(0).text().contains("1.json is damaged"));
        assertEquals(2000, connections());
    }

    @Test
    void aDamagedEntryOfTheHistoryKeepsNoLauncherFromStarting() throws Exception {
        run(FILE);
        changes.close();
        Files.writeString(
                directory.resolve("state/config-history/1.json"),
                "{\"number\": \"one\", \"at\": \"\", \"by\": \"start\", \"name\": \"\", \"directory\": \"/\", \"text\": \"\"}");
        launch(Map.of());

        assertEquals(List.of("start"), by());
        assertEquals(2, inspection.history().get(0).number());
    }

    @Test
    void theSameFileStartsNoNewEntry() throws Exception {
        run(FILE);
        changes.close();
        launch(Map.of());
        assertEquals(List.of("start"), by());
    }

    @Test
    void readsIncludedFilesAgainAtEveryReload() throws Exception {
        Path rules = Files.createDirectories(directory.resolve("rules.d"));
        Path one = Files.writeString(
                rules.resolve("a.yaml"), "remap: [{map: http://a.example/, to: http://o.example/}]\n");
        run("include: rules.d\n" + FILE);
        Files.writeString(one, "remap:\n  - map: http://b.example/\n    to: http://o.example/\n");
        assertEquals(Map.of("remap", Result.APPLIED), results(done(changes.reload())));
        assertEquals(
                "http://b.example/",
                read(worker.reloaded.remove()).remap().get(1).from().toString());

        Files.writeString(one, "remap:\n  - map: http://b.example/\n    too: http://o.example/\n");
        assertEquals(
                one + ":3:5: remap[1].too: unknown key (did you mean to?)",
                done(changes.reload()).problems().get(0).text());
    }
}
