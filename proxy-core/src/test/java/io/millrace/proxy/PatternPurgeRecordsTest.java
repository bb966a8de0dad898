package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.data.PurgeAdmin;
import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.Invalidator;
import io.millrace.proxy.purge.record.PurgeState;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Records, dry runs, counts, undo and cancellation of purges by pattern. */
class PatternPurgeRecordsTest {
    private static final AdminCaller CALLER = new AdminCaller(1000, null, null);
    private static final List<String> PATHS = List.of("/a", "/a.png", "/b?q");

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.purgeRecords(directory.resolve("purges"));
        proxy.start(
                request -> {
                    String type = request.has(".png") ? "image/png" : "text/html";
                    request.ok(
                            "Cache-Control: max-age=60000\r\nETag: \"1\"\r\nxkey: k " + (request.has("/b") ? "b" : "a")
                                    + "\r\nContent-Type: " + type + "\r\n",
                            RawInput.latin1("answer " + request.number()));
                },
                more);
    }

    private void startOnDisk() throws IOException {
        start(config -> config.storage(directory.resolve("disk"), 64 << 20));
        for (String path : PATHS) {
            proxy.getAndSettle(path);
        }
        PurgeRecordsTest.awaitInventory(proxy, admin());
    }

    private Invalidator invalidator() {
        return proxy.proxy().shared().invalidator();
    }

    private void stopSweeper() {
        invalidator().onPattern(() -> {});
    }

    private PurgeAdmin admin() {
        return new PurgeAdmin(new ServerView(proxy.proxy()));
    }

    private static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private static Scope scope(String expression, boolean soft) {
        return new Scope(Kind.PATTERN, null, expression, soft);
    }

    private String purge(String expression, boolean soft) throws Exception {
        return await(admin().scoped().invalidate(scope(expression, soft), CALLER, false))
                .id();
    }

    private boolean isHit(String path) throws IOException {
        int before = proxy.origin().requests();
        proxy.getAndSettle(path);
        return proxy.origin().requests() == before;
    }

    @ParameterizedTest
    @CsvSource(
            delimiterString = " => ",
            value = {
                "path =~ '\\.png$' => 1",
                "type == 'text/html' => 2",
                "tag == 'k' => 3",
                "tag == 'b' || type =~ 'png' => 2",
                "!(tag == 'b') && status == 200 => 2",
                "header['ETag'] == '\"1\"' => 3",
                "header['ETag'] == '\"2\"' => 0",
                "header['xkey'] =~ '.' && path == '/a' => 0",
                "size < 100B && age < 1h => 3",
                "age > 1h => 0",
                "host == 'other.example' || header['Content-Type'] == 'image/png' => 1"
            })
    void aDryRunAndACountUseTheExpression(String expression, int objects) throws Exception {
        startOnDisk();
        PurgeAdmin admin = admin();
        PurgeView run = await(admin.dryRun(scope(expression, false), CALLER));
        run = PurgeRecordsTest.counted(admin, run.record().id());
        assertEquals(objects, run.record().objects());
        assertEquals(8L * objects, run.record().bytes());
        assertEquals(objects, run.count().urls().size());
        assertEquals("pattern", run.record().scope());
        assertNull(run.sweep());
        assertEquals(List.of(), admin.latest(null, 10));
        InvalidationReport purged = await(admin.scoped().invalidate(scope(expression, false), CALLER, true));
        PurgeView view = PurgeRecordsTest.counted(admin, purged.id());
        assertEquals(objects, view.record().objects());
        assertEquals(expression, view.record().target());
        assertEquals(1000, view.record().client().uid());
        ProxyExtension.await("the sweep", () -> !invalidator().isLive(purged.stamp()));
        assertEquals("done", admin.find(purged.id()).sweep());
        ProxyExtension.await("its count in the records", () -> objectsOf(purged.id()) == objects);
        run = await(admin.dryRun(scope(expression, true), CALLER));
        assertEquals(
                0, PurgeRecordsTest.counted(admin, run.record().id()).record().objects());
    }

    /** The number of objects from the records alone. */
    private long objectsOf(String id) {
        try {
            return admin().find(id).record().objects();
        } catch (AdminException e) {
            throw new AssertionError(e);
        }
    }

    @Test
    void aSoftPurgeWaitsForItsUndoWindowAndIsThenSwept() throws Exception {
        startOnDisk();
        String undone = purge("path == '/a'", true);
        String kept = purge("type == 'image/png'", true);
        assertEquals("waiting", admin().find(undone).sweep());
        assertEquals(
                ProxyExtension.START_MILLIS + 3_600_000, admin().find(undone).undoUntilMillis());
        PurgeView view = await(admin().undo(undone, CALLER));
        assertEquals(PurgeState.UNDONE, view.record().state());
        assertTrue(isHit("/a"));
        proxy.restart();
        assertTrue(isHit("/a"));
        assertEquals("waiting", admin().find(kept).sweep());
        proxy.advanceSeconds(3600);
        String code = assertThrows(AdminException.class, () -> admin().undo(kept, CALLER))
                .code();
        assertEquals("undo-window", code);
        // The next purge starts the sweeper at once.
        purge("path == '/none'", false);
        ProxyExtension.await("the sweeps", () -> invalidator().patterns().isEmpty());
        assertEquals("done", admin().find(kept).sweep());
        assertNull(admin().find(undone).sweep());
        assertFalse(isHit("/a.png"));
        assertTrue(isHit("/a"));
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void aCancelledPurgeLeavesTheRest(boolean soft) throws Exception {
        startOnDisk();
        stopSweeper();
        String id = purge("path == '/a' || query == 'q'", soft);
        assertFalse(isHit("/a"));
        PurgeView view = await(admin().cancel(id, CALLER));
        assertEquals(PurgeState.CANCELLED, view.record().state());
        assertEquals(1, proxy.counted(Counter.PURGES_CANCELLED));
        assertEquals(0, invalidator().patterns().size());
        assertTrue(isHit("/b?q"));
        proxy.restart();
        assertTrue(isHit("/a"));
        assertTrue(isHit("/b?q"));
        assertEquals(PurgeState.CANCELLED, admin().find(id).record().state());
        assertEquals(0, admin().find(id).undoUntilMillis());
        assertEquals(
                "not-in-progress",
                assertThrows(AdminException.class, () -> admin().cancel(id, CALLER))
                        .code());
        assertEquals(
                "not-undoable",
                assertThrows(AdminException.class, () -> admin().undo(id, CALLER))
                        .code());
        List<String> lines = Files.readAllLines(directory.resolve("purges").resolve("purges.jsonl"));
        String last = lines.get(lines.size() - 1);
        assertTrue(last.contains("\"id\":\"" + id + "\"") && last.contains("\"action\":\"cancel\""), last);
        assertTrue(last.contains("\"uid\":1000"), last);
    }

    @Test
    void aCompletedPurgeCannotBeCancelled() throws Exception {
        startOnDisk();
        String id = purge("path == '/a'", false);
        ProxyExtension.await("the sweep", () -> invalidator().patterns().isEmpty());
        AdminException refused = assertThrows(AdminException.class, () -> admin().cancel(id, CALLER));
        assertEquals("409 not-in-progress", refused.status() + " " + refused.code());
        assertFalse(isHit("/a"));
    }

    /** A purge of everything ends the comparison with a soft pattern, but not the possibility to undo it. */
    @Test
    void aPatternBelowAPurgeOfEverythingIsCoveredAndUndoable() throws Exception {
        startOnDisk();
        String id = purge("path == '/a'", true);
        assertEquals("waiting", admin().find(id).sweep());
        await(admin().scoped().invalidate(new Scope(Kind.ALL, null, null, false), CALLER, false));
        PurgeView view = admin().find(id);
        assertEquals("covered", view.sweep());
        assertEquals(ProxyExtension.START_MILLIS + 3_600_000, view.undoUntilMillis());
        assertEquals(
                "not-in-progress",
                assertThrows(AdminException.class, () -> admin().cancel(id, CALLER))
                        .code());
        await(admin().undo(id, CALLER));
        assertNull(admin().find(id).sweep());
        assertFalse(isHit("/a"));
    }

    @Test
    void aRefusedPurgeHasNoRecordAndADryRunIsNotRefused() throws Exception {
        startOnDisk();
        stopSweeper();
        for (int i = 0; i < 64; i++) {
            purge("path == '/none" + i + "'", i % 2 == 0);
        }
        ExecutionException full = assertThrows(ExecutionException.class, () -> purge("path == '/a'", false));
        assertEquals(429, ((AdminException) full.getCause()).status());
        ExecutionException bad = assertThrows(ExecutionException.class, () -> purge("path = '/a'", false));
        assertTrue(
                bad.getCause().getMessage().startsWith("where:1:6:"),
                bad.getCause().getMessage());
        assertEquals(64, admin().latest(null, 100).size());
        PurgeAdmin admin = admin();
        PurgeView run = await(admin.dryRun(scope("path == '/a'", false), CALLER));
        assertEquals(
                1, PurgeRecordsTest.counted(admin, run.record().id()).record().objects());
        await(admin().cancel(admin().latest(null, 1).get(0).record().id(), CALLER));
        purge("path == '/a'", false);
        assertFalse(isHit("/a"));
    }
}
