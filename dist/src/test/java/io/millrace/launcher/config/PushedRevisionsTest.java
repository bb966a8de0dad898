package io.millrace.launcher.config;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.config.problem.ConfigDocument.Pushed;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletionException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Tests how revisions of a fleet are applied beside the local file, its reloads and rollbacks. */
class PushedRevisionsTest extends ConfigChangesFixture {
    private PushedRevisions revisions;

    @BeforeEach
    void start() throws Exception {
        Path key = Files.writeString(
                directory.resolve("key.pub"),
                "-----BEGIN PUBLIC KEY-----\nMCowBQYDK2VwAyEAGb9ECWmEzf6FQbrBZ9w7lshQhqowtrbLDFw4rXAxZuE=\n"
                        + "-----END PUBLIC KEY-----\n");
        run(FILE + "fleet: {name: cdn, servers: ['nats://a:4222'], node: n1, config_public_key_file: " + key + "}\n");
        revisions = new PushedRevisions(running, changes, () -> true);
    }

    private List<String> apply(long revision, @Nullable String text) {
        return revisions
                .apply(revision, text == null ? null : new Pushed(revision, text))
                .toCompletableFuture()
                .join();
    }

    @Test
    void aRevisionReplacesValuesOfTheFileAndStaysAfterAReload() {
        assertEquals(List.of(), apply(1, "limits: {connections: 500}\n"));
        assertEquals(500, connections());
        assertEquals(1, revisions.revision());
        assertTrue(done(changes.reload()).ok());
        assertEquals(500, connections());
        assertEquals(List.of(), apply(2, null));
        assertEquals(1000, connections());
        assertEquals(0, revisions.revision());
        assertEquals(List.of("start", "fleet revision 1", "fleet revision 2"), by());
    }

    @Test
    void aRejectedRevisionChangesNothing() {
        apply(1, "limits: {connections: 500}\n");
        List<String> problems = apply(2, "limits: {connections: none}\n");
        assertTrue(problems.get(0).startsWith("fleet://config/2:1:"), problems::toString);
        worker.obstacle = "the worker is starting";
        assertFalse(apply(3, "limits: {connections: 700}\n").isEmpty());
        assertEquals(500, connections());
        assertEquals(1, revisions.revision());
    }

    /** The fleet applies a revision again after an exception, and does not reject it. */
    @Test
    void aRevisionIsNotRejectedWhileAWorkerOfAnEarlierLauncherIsReplaced() {
        boolean[] canApply = {false};
        revisions = new PushedRevisions(running, changes, () -> canApply[0]);
        CompletionException refused =
                assertThrows(CompletionException.class, () -> apply(1, "limits: {connections: 500}\n"));
        assertTrue(refused.getMessage().contains("worker of an earlier launcher"), refused::getMessage);
        assertEquals(1000, connections());
        canApply[0] = true;
        assertEquals(List.of(), apply(1, "limits: {connections: 500}\n"));
        assertEquals(500, connections());
    }

    @Test
    void aLocalRollbackKeepsTheRevision() {
        done(changes.set(Map.of("cache.enabled", "false"), false));
        apply(1, "limits: {connections: 500}\n");
        apply(2, "limits: {connections: 600}\n");
        ReloadReport report = done(changes.rollback(1));
        assertTrue(report.ok(), report::toString);
        assertEquals(600, connections());
        assertTrue(cacheEnabled());
    }

    @Test
    void aValueOfTheRevisionCannotBeSavedToTheFile() {
        apply(1, "limits: {connections: 500}\n");
        ReloadReport report = done(changes.set(Map.of("limits.connections", "700"), true));
        assertFalse(report.ok());
        assertTrue(report.settings().get(0).detail().contains("configuration of the fleet"), report::toString);
        assertTrue(done(changes.set(Map.of("limits.connections", "700"), false)).ok());
        assertEquals(700, connections());
    }

    @Test
    void aFileThatTurnsRevisionsOffIsUsedAlone() throws Exception {
        apply(1, "limits: {connections: 500}\n");
        Files.writeString(file, Files.readString(file).replace("node: n1", "node: n1, config: false"));
        assertTrue(done(changes.reload()).ok());
        assertEquals(1000, connections());
    }

    @Test
    void aCheckedRevisionIsNotReadAgainUnlessTheFileChanges() throws Exception {
        Pushed wrong = new Pushed(1, "limits: {connections: many}\n");
        assertEquals(1, revisions.check(wrong).toCompletableFuture().join().size());
        Pushed good = new Pushed(1, "limits: {connections: 500}\n");
        assertEquals(List.of(), revisions.check(good).toCompletableFuture().join());
        Files.writeString(file, Files.readString(file) + "cache: {enabled: false}\n");
        assertEquals(List.of(), apply(1, good.text()));
        assertEquals(500, connections());
        assertFalse(cacheEnabled());
    }

    @Test
    void aCheckedRevisionIsReadAgainWithTheIncludedFilesAsTheyAre() throws Exception {
        Path rules =
                Files.writeString(directory.resolve("rules.yaml"), "remap: [{map: http://a.example/, to: http://a/}]");
        Files.writeString(file, Files.readString(file) + "include: [rules.yaml]\n");
        assertTrue(done(changes.reload()).ok());
        Pushed good = new Pushed(1, "limits: {connections: 500}\n");
        assertEquals(List.of(), revisions.check(good).toCompletableFuture().join());
        Files.writeString(
                rules, "remap: [{map: http://a.example/, to: http://a/}, {map: http://b.example/, to: http://b/}]");
        assertEquals(List.of(), apply(1, good.text()));
        assertEquals(3, running.config().values().elements(ConfigKeys.REMAP).size());
    }

    /** Files that the configuration names are read with it, such as a file of keys. */
    @Test
    void aCheckedRevisionIsReadAgainAfterATime() throws Exception {
        long[] nanos = {0};
        revisions = new PushedRevisions(running, changes, () -> true, () -> nanos[0]);
        Path keys = directory.resolve("keys");
        Files.writeString(keys, "key0 = 0123456789abcdef0123456789abcdef\n");
        Files.writeString(file, Files.readString(file) + "signed_urls: {keys: keys}\n");
        Pushed good = new Pushed(1, "limits: {connections: 500}\n");
        assertEquals(List.of(), revisions.check(good).toCompletableFuture().join());
        Files.delete(keys);
        nanos[0] = TimeUnit.SECONDS.toNanos(31);
        assertFalse(apply(1, good.text()).isEmpty());
        assertEquals(1000, connections());
    }
}
