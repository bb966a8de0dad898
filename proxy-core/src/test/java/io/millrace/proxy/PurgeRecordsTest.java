package io.millrace.proxy;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.cache.ExplainSource;
import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.InvalidationService.Kind;
import io.millrace.proxy.admin.cache.InvalidationService.Scope;
import io.millrace.proxy.admin.data.PurgeAdmin;
import io.millrace.proxy.admin.data.RequestExplanation;
import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.caching.StoredHead;
import io.millrace.proxy.config.ProxyConfig;
import io.millrace.proxy.observe.Counter;
import io.millrace.proxy.purge.InvalidationScope;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeId;
import io.millrace.proxy.purge.record.PurgeRecord;
import io.millrace.proxy.purge.record.PurgeState;
import io.millrace.store.CacheStore;
import io.netty.channel.epoll.Epoll;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.StandardProtocolFamily;
import java.net.UnixDomainSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.SocketChannel;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.concurrent.CompletionStage;
import java.util.concurrent.TimeUnit;
import java.util.function.UnaryOperator;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** Every purge has a record with an identifier, by which it is found, counted and undone. */
class PurgeRecordsTest {
    private static final String HOST = "test.example";
    private static final AdminCaller CALLER = new AdminCaller(1000, null, null);

    @RegisterExtension
    final ProxyExtension proxy = new ProxyExtension();

    @TempDir
    Path directory;

    /** The origin takes the tag from the path: the part after {@code /tags/}. */
    private void start(UnaryOperator<ProxyConfig.Builder> more) throws IOException {
        proxy.purgeRecords(directory.resolve("purges"));
        proxy.start(
                request -> {
                    String path = request.head().split(" ", 3)[1];
                    String tag = path.startsWith("/tags/") ? "xkey: " + path.substring(6) + "\r\n" : "";
                    String vary = path.startsWith("/varies") ? "Vary: Accept-Language\r\n" : "";
                    String group = path.startsWith("/groups/") ? "Cache-Groups: \"g\"\r\n" : "";
                    if (request.has("If-None-Match")) {
                        request.send("HTTP/1.1 304 Not Modified\r\nETag: \"1\"\r\nCache-Control: max-age=6000\r\n\r\n");
                    } else {
                        request.ok(
                                "Cache-Control: max-age=6000\r\nETag: \"1\"\r\n" + tag + group + vary,
                                RawInput.latin1("answer " + request.number()));
                    }
                },
                more);
    }

    private void startInRam() throws IOException {
        start(config -> config);
    }

    private void startOnDisk() throws IOException {
        start(config -> config.storage(directory.resolve("disk"), 64 << 20));
    }

    private PurgeAdmin admin() {
        return new PurgeAdmin(new ServerView(proxy.proxy()));
    }

    private static <T> T await(CompletionStage<T> stage) throws Exception {
        return stage.toCompletableFuture().get(30, TimeUnit.SECONDS);
    }

    private InvalidationReport purge(PurgeAdmin admin, Scope scope, boolean counts) throws Exception {
        return await(admin.scoped().invalidate(scope, CALLER, counts));
    }

    private String purge(Kind kind, boolean soft) throws Exception {
        return purge(admin(), scope(kind, soft), false).id();
    }

    private static Scope scope(Kind kind, boolean soft) {
        return switch (kind) {
            case HOST -> new Scope(kind, HOST, null, soft);
            case PREFIX -> new Scope(kind, null, "http://" + HOST + "/tags/", soft);
            case URL -> new Scope(kind, null, "http://" + HOST + "/tags/x", soft);
            case GROUP -> new Scope(kind, HOST, "g", soft);
            case TAG -> new Scope(kind, null, null, soft, List.of("x"), HOST);
            case ALL -> new Scope(kind, null, null, soft);
            case PATTERN -> new Scope(kind, null, "path =~ '^/tags/'", soft);
        };
    }

    private RawClient.Response request(String method, String target, String... fields) throws IOException {
        try (RawClient client = new RawClient(proxy.address())) {
            String lines = fields.length == 0 ? "" : String.join("\r\n", fields) + "\r\n";
            return client.send(method + " " + target + " HTTP/1.1\r\nHost: " + HOST + "\r\n" + lines + "\r\n")
                    .response();
        }
    }

    private RawClient.Response get(String target) throws IOException {
        RawClient.Response response = request("GET", target);
        proxy.settle();
        return response;
    }

    private boolean isHit(String target) throws IOException {
        int before = proxy.origin().requests();
        get(target);
        return proxy.origin().requests() == before;
    }

    private List<PurgeRecord> latest() throws Exception {
        return admin().latest(null, 100).stream().map(PurgeView::record).toList();
    }

    @Test
    void everyPurgeHasARecordThatSurvivesARestart() throws Exception {
        startOnDisk();
        get("/tags/x");
        request("PURGE", "/tags/x");
        request("PURGE", "/none");
        request("PURGE", "/.*");
        request("PURGE", "/tags/.*");
        request("PURGE", "/", "xkey-softpurge: x y");
        request("PURGE", "/tags/x", "Fastly-Soft-Purge: 1");
        purge(Kind.GROUP, true);
        purge(Kind.ALL, false);
        List<PurgeRecord> records = latest();
        List<String> words = records.stream()
                .map(record -> record.client().via() + " " + record.scope() + " " + record.soft() + " "
                        + record.target() + " " + record.site() + " " + record.objects())
                .toList();
        assertEquals(
                List.of(
                        "admin all false everything null -1",
                        "admin group true g of test.example null -1",
                        "request url true http://test.example/tags/x null -1",
                        "request tag true x, y of test.example test.example -1",
                        "request prefix false http://test.example/tags/ null -1",
                        "request host false test.example null -1",
                        "request url false http://test.example/none null -1",
                        "request url false http://test.example/tags/x null -1"),
                words);
        assertEquals(new PurgeClient("admin", 1000, null, null), records.get(0).client());
        assertEquals("127.0.0.1", records.get(2).client().address());
        assertEquals(ProxyExtension.START_MILLIS, records.get(0).atMillis());
        proxy.restart();
        assertEquals(records, latest());
        assertEquals(records.get(5), admin().find(records.get(5).id()).record());
        assertEquals(
                records.subList(3, 5),
                admin().latest(records.get(2).id(), 2).stream()
                        .map(PurgeView::record)
                        .toList());
    }

    @Test
    void aPurgeThatIsRefusedHasNone() throws Exception {
        start(config -> config.set("purge.allow", "192.0.2.1"));
        assertEquals(403, request("PURGE", "/a").status());
        assertEquals(403, request("PURGE", "/.*").status());
        assertEquals(List.of(), latest());
    }

    @ParameterizedTest
    @EnumSource(Kind.class)
    void anUndoneSoftPurgeLeavesResponsesAsTheyWere(Kind kind) throws Exception {
        startOnDisk();
        String path = kind == Kind.GROUP ? "/groups/x" : "/tags/x";
        get(path);
        proxy.proxy().store().sync();
        String id = purge(kind, true);
        assertTrue(admin().find(id).undoUntilMillis() == ProxyExtension.START_MILLIS + 3_600_000, "until");
        PurgeView undone = await(admin().undo(id, CALLER));
        assertEquals(PurgeState.UNDONE, undone.record().state());
        RawClient.Response response = get(path);
        assertEquals("answer 1", response.text());
        assertEquals("millrace; hit; ttl=6000", response.field("cache-status"));
        assertEquals(1, proxy.counted(Counter.PURGES_UNDONE));
        proxy.restart();
        assertTrue(isHit(path));
        assertEquals(PurgeState.UNDONE, admin().find(id).record().state());
    }

    @Test
    void anUndoLeavesWhatWasValidatedMeanwhileAndOtherPurges() throws Exception {
        startInRam();
        get("/tags/x");
        get("/tags/y");
        String first = purge(Kind.HOST, true);
        String status = get("/tags/x").field("cache-status");
        assertTrue(status.contains("detail=stale-by-host; purged-by=" + first), status);
        String second = purge(Kind.PREFIX, true);
        await(admin().undo(first, CALLER));
        status = get("/tags/y").field("cache-status");
        assertTrue(status.contains("detail=stale-by-prefix; purged-by=" + second), status);
        await(admin().undo(second, CALLER));
        assertTrue(isHit("/tags/x"));
        assertTrue(isHit("/tags/y"));
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(
            delimiter = '|',
            value = {
                "unknown | 404 | unknown-purge | no purge has the identifier s1",
                "hard | 409 | not-undoable | is hard",
                "late | 409 | undo-window | is older than purge.undo_window (1h)",
                "twice | 409 | already-undone | is undone",
                "removal | 409 | not-undoable | is hard"
            })
    void aPurgeThatCannotBeUndoneStays(String why, int status, String code, String message) throws Exception {
        startInRam();
        get("/tags/x");
        String id = "s1";
        if (why.equals("removal")) {
            request("PURGE", "/tags/x");
            id = latest().get(0).id();
        } else if (!why.equals("unknown")) {
            id = purge(Kind.HOST, !why.equals("hard"));
        }
        if (why.equals("late")) {
            proxy.advanceSeconds(3600);
            assertEquals(0, admin().find(id).undoUntilMillis());
        } else if (why.equals("twice")) {
            await(admin().undo(id, CALLER));
        }
        String asked = id;
        AdminException refused = assertThrows(AdminException.class, () -> admin().undo(asked, CALLER));
        assertEquals(status, refused.status());
        assertEquals(code, refused.code());
        assertTrue(refused.message().contains(message), refused.message());
        assertEquals(why.equals("twice") || why.equals("unknown"), isHit("/tags/x"));
    }

    @ParameterizedTest
    @CsvSource({"0s, 0, false", "10s, 9, true", "10s, 10, false"})
    void theWindowIsASetting(String window, int seconds, boolean undone) throws Exception {
        start(config -> config.set("purge.undo_window", window));
        get("/tags/x");
        String id = purge(Kind.HOST, true);
        proxy.advanceSeconds(seconds);
        if (undone) {
            await(admin().undo(id, CALLER));
        } else {
            assertEquals(
                    "undo-window",
                    assertThrows(AdminException.class, () -> admin().undo(id, CALLER))
                            .code());
        }
        assertEquals(undone, isHit("/tags/x"));
    }

    @Test
    void aPurgeWithoutARecordCanBeUndone() throws Exception {
        startOnDisk();
        get("/tags/x");
        proxy.proxy().store().sync();
        String id = purge(Kind.HOST, true);
        // As after a crash between the journal entry and the record.
        Files.delete(directory.resolve("purges/purges.jsonl"));
        proxy.restart();
        PurgeRecord found = admin().find(id).record();
        assertEquals("unknown unknown DONE", found.client().via() + " " + found.scope() + " " + found.state());
        await(admin().undo(id, CALLER));
        assertTrue(isHit("/tags/x"));
        assertEquals(List.of(id + " UNDONE"), states());
        String hard = purge(Kind.HOST, false);
        Files.delete(directory.resolve("purges/purges.jsonl"));
        assertEquals(
                "unknown-purge",
                assertThrows(AdminException.class, () -> admin().find(hard)).code());
    }

    @Test
    void anUndoWithoutARecordIsShown() throws Exception {
        startOnDisk();
        get("/tags/x");
        proxy.proxy().store().sync();
        String id = purge(Kind.HOST, true);
        Path log = directory.resolve("purges/purges.jsonl");
        byte[] before = Files.readAllBytes(log);
        await(admin().undo(id, CALLER));
        // As after a crash between the journal entry and the record.
        Files.write(log, before);
        proxy.restart();
        assertEquals(List.of(id + " UNDONE"), states());
        AdminException refused = assertThrows(AdminException.class, () -> admin().undo(id, CALLER));
        assertEquals("already-undone", refused.code());
        assertTrue(isHit("/tags/x"));
    }

    @Test
    void recordsThatCannotBeReadAreAnErrorWithTheirFile() throws Exception {
        startInRam();
        Files.delete(directory.resolve("purges/removals"));
        Files.delete(directory.resolve("purges"));
        Files.createFile(directory.resolve("purges"));
        AdminException failure = assertThrows(AdminException.class, () -> admin().find("s1"));
        assertEquals("500 no-records", failure.status() + " " + failure.code());
        String file = directory.resolve("purges/purges.jsonl").toString();
        assertTrue(failure.message().startsWith(file + ": the records of purges cannot be read: "), failure.message());
        assertThrows(AdminException.class, this::latest);
    }

    private List<String> states() throws Exception {
        return latest().stream()
                .map(record -> record.id() + " " + record.state())
                .toList();
    }

    @Test
    void textOfAnyKindHasARecord() throws Exception {
        startInRam();
        Scope scope = new Scope(Kind.GROUP, HOST, "\ud800 \"\n", true);
        String id = purge(admin(), scope, false).id();
        assertEquals("? \"\n of " + HOST, admin().find(id).record().target());
    }

    @Test
    void thereIsNothingToCancelOfAPurgeThatIsDone() throws Exception {
        startInRam();
        String id = purge(Kind.HOST, true);
        AdminException refused = assertThrows(AdminException.class, () -> admin().cancel(id, CALLER));
        assertEquals("409 not-in-progress", refused.status() + " " + refused.code());
        AdminException unknown = assertThrows(AdminException.class, () -> admin().cancel("s1", CALLER));
        assertEquals("404 unknown-purge", unknown.status() + " " + unknown.code());
    }

    @ParameterizedTest
    @CsvSource({"HOST, 4", "PREFIX, 2", "URL, 1", "GROUP, 1", "TAG, 1", "ALL, 5", "PATTERN, 3"})
    void aDryRunCountsInTheInventory(Kind kind, int objects) throws Exception {
        startOnDisk();
        for (String path : List.of("/tags/x", "/tags/y", "/groups/x", "/plain")) {
            get(path);
        }
        try (RawClient client = new RawClient(proxy.address())) {
            client.send("GET /tags/z HTTP/1.1\r\nHost: other.example\r\n\r\n").response();
        }
        proxy.settle();
        PurgeAdmin admin = admin();
        awaitInventory(admin);
        PurgeView run = dryRun(admin, kind);
        assertEquals(PurgeState.DONE, run.record().state());
        assertEquals(objects, run.record().objects());
        assertEquals(8L * objects, run.record().bytes());
        assertEquals(objects, run.count().urls().size());
        assertEquals(run.count().urls().stream().sorted().toList(), run.count().urls());
        assertEquals(List.of(), latest());
        assertTrue(isHit("/tags/x"));
        if (kind == Kind.URL) {
            return;
        }
        String id = purge(admin, scope(kind, false), true).id();
        assertEquals(objects, counted(admin, id).record().objects());
        ProxyExtension.await("its count in the records", () -> objectsOf(id) == objects);
        assertEquals(0, dryRun(admin, kind).record().objects());
        String again = purge(admin, scope(kind, false), true).id();
        assertEquals(0, counted(admin, again).record().objects());
    }

    /** Variants that a purge made unreachable stay on disk, and do not count after the URL was stored again. */
    @Test
    void variantsOfAPurgedUrlDoNotCountAgain() throws Exception {
        startOnDisk();
        PurgeAdmin admin = admin();
        for (int round = 1; round <= 3; round++) {
            for (String language : List.of("de", "en")) {
                request("GET", "/varies", "Accept-Language: " + language);
                proxy.settle();
            }
            awaitInventory(admin);
            assertEquals(2, dryRun(admin, Kind.HOST).record().objects(), "in round " + round);
            request("PURGE", "/varies");
            assertEquals(0, dryRun(admin, Kind.HOST).record().objects(), "after purge " + round);
        }
    }

    private static PurgeView dryRun(PurgeAdmin admin, Kind kind) throws Exception {
        return counted(
                admin, await(admin.dryRun(scope(kind, false), CALLER)).record().id());
    }

    /** Returns the view of a purge after the end of its count. */
    static PurgeView counted(PurgeAdmin admin, String id) throws Exception {
        PurgeView[] last = {admin.find(id)};
        ProxyExtension.await("the count", () -> {
            try {
                last[0] = admin.find(id);
            } catch (AdminException e) {
                throw new AssertionError(e);
            }
            return last[0].record().state() != PurgeState.COUNTING;
        });
        return last[0];
    }

    /** The purge from the records, without the counts of a process. */
    private long objectsOf(String id) {
        try {
            return admin().find(id).record().objects();
        } catch (AdminException e) {
            throw new AssertionError(e);
        }
    }

    private void awaitInventory(PurgeAdmin admin) {
        awaitInventory(proxy, admin);
    }

    /** Repeats a dry run until the inventory has all objects. The first one opens the inventory without a delay. */
    static void awaitInventory(ProxyExtension proxy, PurgeAdmin admin) {
        Scope all = new Scope(Kind.ALL, null, null, false);
        CacheStore<StoredHead> store = proxy.proxy().store();
        ProxyExtension.await("the inventory", () -> {
            try {
                store.sync();
                boolean settled = store.inventory().entries()
                        >= store.statistics().volumes().get(0).entries();
                return await(admin.dryRun(all, CALLER)).count().note() == null && settled;
            } catch (Exception e) {
                throw new AssertionError(e);
            }
        });
    }

    @Test
    void aPurgeOfAUrlIsCountedAndNamesTheUserOfTheSocket() throws Exception {
        Path socket = directory.resolve("a.sock");
        start(config -> config.storage(directory.resolve("disk"), 64 << 20).set("admin.socket", socket.toString()));
        get("/tags/x");
        awaitInventory(admin());
        String answer = post(socket, "/v1/cache/purge", "{\"url\":\"http://test.example/tags/x\",\"count\":true}");
        String url = "http://test.example/tags/x";
        assertTrue(
                answer.contains(
                        "{\"scope\":\"url\",\"target\":\"" + url + "\",\"url\":\"" + url + "\",\"purged\":true"),
                answer);
        assertTrue(answer.endsWith("\"objects\":1}"), answer);
        PurgeRecord record = latest().get(0);
        assertEquals(1, record.objects());
        long uid = ((Number) Files.getAttribute(directory, "unix:uid")).longValue();
        assertEquals(new PurgeClient("admin", Epoll.isAvailable() ? uid : -1, null, null), record.client());
        answer = post(socket, "/v1/cache/purge", "{\"url\":\"http://test.example/none\",\"count\":true}");
        assertTrue(answer.endsWith("\"objects\":0}"), answer);
    }

    /** A prefix without a path covers the same as its host, but is a prefix in answer and record. */
    @ParameterizedTest
    @CsvSource({
        "PREFIX, http://test.example/, prefix, prefix, http://test.example/",
        "PREFIX, http://test.example, prefix, prefix, http://test.example/",
        "PREFIX, http://test.example/tags/, prefix, prefix, http://test.example/tags/",
        "HOST, test.example, host, host, test.example"
    })
    void answerAndRecordNameTheScopeAsRequested(Kind kind, String text, String answered, String recorded, String target)
            throws Exception {
        startInRam();
        get("/tags/x");
        boolean isHost = kind == Kind.HOST;
        Scope scope = new Scope(kind, isHost ? text : null, isHost ? null : text, false);
        InvalidationReport report = purge(admin(), scope, false);
        assertEquals(answered + " " + target, report.scope() + " " + report.target());
        PurgeRecord record = latest().get(0);
        assertEquals(recorded + " " + target, record.scope() + " " + record.target());
        assertFalse(isHit("/tags/x"));
    }

    /** A prefix that is too long is widened to its host, which the answer says. */
    @Test
    void theAnswerNamesAWidenedScope() throws Exception {
        startInRam();
        String url = "http://" + HOST + "/" + "x".repeat(InvalidationScope.PREFIX_LENGTH_MAX);
        assertEquals(
                "host",
                purge(admin(), new Scope(Kind.PREFIX, null, url, false), false).scope());
        assertEquals("prefix", latest().get(0).scope());
    }

    @Test
    void aDryRunIsNamedAndHasNothingToUndo() throws Exception {
        Path socket = directory.resolve("a.sock");
        start(config -> config.storage(directory.resolve("disk"), 64 << 20).set("admin.socket", socket.toString()));
        String body = "{\"host\":\"test.example\",\"mode\":\"soft\"}";
        String run = post(socket, "/v1/cache/purge/dry-run", body);
        String id = idIn(run);
        assertTrue(PurgeId.isDryRun(id), id);
        assertTrue(run.contains("\"dry_run\":true"), run);
        String shown = send(socket, "GET", "/v1/cache/purge?id=" + id, "");
        assertTrue(shown.contains("\"dry_run\":true"), shown);
        assertEquals(List.of(), latest());
        assertNothingToUndo(post(socket, "/v1/cache/purge/undo", "{\"id\":\"" + id + "\"}"), id);
        // An earlier worker may have counted.
        String earlier = new PurgeId(PurgeId.DRY_RUN, () -> 1).next();
        assertNothingToUndo(post(socket, "/v1/cache/purge/undo", "{\"id\":\"" + earlier + "\"}"), earlier);
        String unknown = send(socket, "GET", "/v1/cache/purge?id=" + earlier, "");
        assertTrue(
                unknown.contains("each worker process keeps only its latest 64 counts of dry runs and purges"),
                unknown);
        ProxyExtension.await("the end of the count", () -> isDone(socket, id));
        String cancelled = post(socket, "/v1/cache/purge/cancel", "{\"id\":\"" + id + "\"}");
        assertTrue(cancelled.contains("\"message\":\"dry run " + id + " is done: no count"), cancelled);

        String purged = idIn(post(socket, "/v1/cache/purge", body));
        shown = send(socket, "GET", "/v1/cache/purge?id=" + purged, "");
        assertTrue(shown.contains("\"dry_run\":false"), shown);
        String listed = send(socket, "GET", "/v1/cache/purges", "");
        assertTrue(listed.contains("\"dry_run\":false") && !listed.contains("\"dry_run\":true"), listed);
    }

    private static void assertNothingToUndo(String answer, String id) {
        assertTrue(answer.startsWith("HTTP/1.1 409"), answer);
        assertTrue(
                answer.endsWith("{\"error\":{\"code\":\"not-undoable\",\"message\":\"" + id
                        + " is a dry run, which purged nothing: nothing to undo\"}}"),
                answer);
    }

    private static boolean isDone(Path socket, String id) {
        try {
            return send(socket, "GET", "/v1/cache/purge?id=" + id, "").contains("\"state\":\"done\"");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private static String idIn(String answer) {
        return answer.replaceFirst("(?s).*\"id\":\"([^\"]+)\".*", "$1");
    }

    /** A purged response is not fresh, although its lifetime is not over; a validation makes it fresh again. */
    @Test
    void aLookupAfterASoftPurgeSaysStale() throws Exception {
        Path socket = directory.resolve("a.sock");
        start(config -> config.set("admin.socket", socket.toString()));
        get("/tags/x");
        String lookup = "/v1/cache/lookup?url=http://test.example/tags/x";
        String answer = send(socket, "GET", lookup, "");
        assertTrue(answer.contains("\"fresh\":true"), answer);
        for (String purge : List.of(
                "{\"url\":\"https://test.example/tags/x\",\"mode\":\"soft\"}",
                "{\"tags\":[\"x\"],\"mode\":\"soft\"}")) {
            post(socket, "/v1/cache/purge", purge);
            answer = send(socket, "GET", lookup, "");
            assertTrue(answer.contains("\"fresh\":false"), answer);
            assertTrue(answer.contains("a request is validated at the origin first"), answer);
            get("/tags/x");
            answer = send(socket, "GET", lookup, "");
            assertTrue(answer.contains("\"fresh\":true"), answer);
        }
        post(socket, "/v1/cache/purge", "{\"tags\":[\"x\"]}");
        answer = send(socket, "GET", lookup, "");
        assertTrue(answer.contains("\"fresh\":false") || answer.contains("\"stored\":false"), answer);
    }

    private static String post(Path socket, String path, String body) throws IOException {
        return send(socket, "POST", path, body);
    }

    private static String send(Path socket, String method, String path, String body) throws IOException {
        String head =
                method + " " + path + " HTTP/1.1\r\nHost: x\r\nConnection: close\r\nContent-Length: " + body.length();
        try (SocketChannel channel = SocketChannel.open(StandardProtocolFamily.UNIX)) {
            channel.connect(UnixDomainSocketAddress.of(socket));
            ByteBuffer request = ByteBuffer.wrap((head + "\r\n\r\n" + body).getBytes(StandardCharsets.US_ASCII));
            while (request.hasRemaining()) {
                channel.write(request);
            }
            return new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8).strip();
        }
    }

    @Test
    void aDryRunWithoutAnInventoryIsRefused() throws Exception {
        startInRam();
        CompletionStage<PurgeView> run = admin().dryRun(scope(Kind.HOST, false), CALLER);
        Exception failure = assertThrows(Exception.class, () -> await(run));
        assertTrue(String.valueOf(failure.getMessage()).contains("without an inventory"), failure.toString());
        InvalidationReport purged = purge(admin(), scope(Kind.HOST, false), true);
        assertEquals(-1, purged.objects());
        assertFalse(purged.counting());
    }

    @Test
    void explainNamesThePurge() throws Exception {
        startInRam();
        get("/tags/x");
        String id = purge(Kind.TAG, true);
        ExplainSource.Explanation explanation = await(new RequestExplanation(new ServerView(proxy.proxy()))
                .explain(new ExplainSource.Question("http://" + HOST + "/tags/x", "GET", List.of(), null, 0, false)));
        assertTrue(
                explanation.steps().stream().anyMatch(step -> step.text().endsWith("by purge " + id)),
                explanation.toString());
    }
}
