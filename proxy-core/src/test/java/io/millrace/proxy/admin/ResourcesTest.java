package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.proxy.admin.HttpExchange.Response;
import io.millrace.proxy.admin.cache.ExplainResource;
import io.millrace.proxy.admin.cache.InvalidationService;
import io.millrace.proxy.admin.cache.InvalidationService.InvalidationReport;
import io.millrace.proxy.admin.cache.ListResource;
import io.millrace.proxy.admin.cache.ListSource;
import io.millrace.proxy.admin.cache.LookupResource;
import io.millrace.proxy.admin.cache.LookupSource.Field;
import io.millrace.proxy.admin.cache.LookupSource.LookupReport;
import io.millrace.proxy.admin.cache.LookupSource.Stored;
import io.millrace.proxy.admin.cache.PurgeResource;
import io.millrace.proxy.admin.cache.PurgeService.PurgeReport;
import io.millrace.proxy.admin.config.ConfigCheckResource;
import io.millrace.proxy.admin.config.ConfigControl;
import io.millrace.proxy.admin.config.ConfigControl.CheckReport;
import io.millrace.proxy.admin.config.ConfigControl.Problem;
import io.millrace.proxy.admin.config.ConfigControl.ReloadReport;
import io.millrace.proxy.admin.config.ConfigControl.Setting;
import io.millrace.proxy.admin.config.ConfigReloadResource;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.status.HealthSource;
import io.millrace.proxy.admin.status.LivezResource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ProxyStatus;
import io.millrace.proxy.admin.status.ReadyzResource;
import io.millrace.proxy.admin.status.StatusResource;
import io.millrace.proxy.admin.status.ThreadsResource;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** Every resource over a real socket: the JSON is the contract with millctl. */
class ResourcesTest {
    static final ProxyStatus STATUS = new ProxyStatus(
            "Millrace",
            "0.1.0",
            ProxyStatus.State.RUNNING,
            77,
            List.of(new ProxyStatus.Listener("0.0.0.0:8080", "http")),
            new ProxyStatus.Connections(3, 2),
            1000,
            new ProxyStatus.Cache(
                    900,
                    100,
                    new ProxyStatus.Tier(5, 10, 1),
                    List.of(new ProxyStatus.Volume("/var/cache/millrace", "online", 50, 100, 7))),
            new ProxyStatus.Config(
                    "/etc/millrace/millrace.yaml",
                    "2026-11-20T11:00:00Z",
                    new ProxyStatus.LastReload(false, "2026-11-20T12:00:00Z", List.of("millrace.yaml:1:1: no"))),
            "17.0.15 Debian",
            "epoll",
            "BoringSSL");

    static final String STATUS_MEMBERS = """
            "product":"Millrace","version":"0.1.0","state":"running","uptime_seconds":77,
            "listeners":[{"address":"0.0.0.0:8080","protocol":"http"}],
            "connections":{"client":3,"origin":2},"requests_total":1000,
            "cache":{"hits_total":900,"misses_total":100,"ram":{"bytes":5,"bytes_max":10,"entries":1},
            "volumes":[{"path":"/var/cache/millrace","state":"online","bytes":50,"bytes_max":100,"entries":7}]},
            "config":{"file":"/etc/millrace/millrace.yaml","loaded_at":"2026-11-20T11:00:00Z",
            "last_reload":{"ok":false,"at":"2026-11-20T12:00:00Z","problems":["millrace.yaml:1:1: no"]}},
            "java":"17.0.15 Debian","transport":"epoll","tls":"BoringSSL"
            """.replace("\n", "");

    private static final Problem PROBLEM = new Problem(
            "/etc/m.yaml",
            12,
            7,
            "cache.ram_szie",
            "unknown key",
            "ram_size",
            "m.yaml:12:7: cache.ram_szie: unknown key (did you mean ram_size?)");
    private static final String PROBLEM_JSON = """
            {"file":"/etc/m.yaml","line":12,"column":7,"path":"cache.ram_szie","message":"unknown key",
            "suggestion":"ram_size","text":"m.yaml:12:7: cache.ram_szie: unknown key (did you mean ram_size?)"}
            """.replace("\n", "");

    static final ListSource.Listed LISTED = new ListSource.Listed(
            "http://h/", "A: b", 200, "text/html", 7, true, 1, 2, List.of("t"), "/v", 3, 64, "aA");

    @TempDir
    Path directory;

    private final FixedHealth health = new FixedHealth();
    private final FixedConfig config = new FixedConfig();
    private final List<Field> fields = new ArrayList<>();
    private final List<ListSource.ListQuery> queries = new ArrayList<>();
    private LookupReport found;
    private AdminServer server;
    private Path socket;

    @BeforeEach
    void start() throws IOException {
        socket = directory.resolve("admin.sock");
        server = AdminServer.builder()
                .unixSocket(socket)
                .resource(new StatusResource(() -> STATUS))
                .resource(new MetricsResource(() -> "# HELP up\nup 1\n"))
                .resource(new LivezResource(health))
                .resource(new ReadyzResource(health))
                .resource(new PurgeResource(ResourcesTest::purge, ResourcesTest::invalidate))
                .resource(new LookupResource(this::lookup))
                .resource(new ListResource(this::list))
                .resource(new ExplainResource(question -> CompletableFuture.failedFuture(new AssertionError(question))))
                .resource(new ThreadsResource(SampleSources.SERVER))
                .resource(new ConfigCheckResource(config, null))
                .resource(new ConfigReloadResource(config))
                .start();
    }

    @AfterEach
    void close() {
        server.close();
    }

    @Test
    void status() throws IOException {
        Response response = get("/v1/status");
        assertEquals(200, response.status());
        assertEquals("{" + STATUS_MEMBERS + "}", response.body());
    }

    @Test
    void metrics() throws IOException {
        Response response = get("/metrics");
        assertEquals("# HELP up\nup 1\n", response.body());
        assertEquals(
                "text/plain; version=0.0.4; charset=utf-8", response.fields().get("content-type"));
    }

    private CompletionStage<ListSource.ListReport> list(ListSource.ListQuery query) {
        queries.add(query);
        return CompletableFuture.completedFuture(new ListSource.ListReport(
                List.of(LISTED), List.of(new ListSource.HostCount("h", 1, 7)), "0.1", true, null));
    }

    @Test
    void aPageOfTheList() throws IOException {
        Response response = get(
                "/v1/cache/list?prefix=http://h/&regex=a%2B&host=h&site=s&where=age%3E1d&limit=7&after=0.2&count=host");
        assertEquals(200, response.status());
        assertEquals(
                "{\"objects\":[{\"url\":\"http://h/\",\"variant\":\"A: b\",\"status\":200,\"type\":\"text/html\","
                        + "\"length\":7,\"whole\":true,\"stored_at\":1,\"kept_until\":2,\"tags\":[\"t\"],"
                        + "\"volume\":\"/v\",\"segment\":3,\"offset\":64,\"key\":\"aA\"}],"
                        + "\"hosts\":[{\"host\":\"h\",\"objects\":1,\"bytes\":7}],"
                        + "\"next\":\"0.1\",\"complete\":true,\"reason\":null}",
                response.body());
        assertEquals(List.of(new ListSource.ListQuery("http://h/", "a+", "h", "s", "age>1d", 7, "0.2", true)), queries);
    }

    @Test
    void aListWithoutParametersHasAHundred() throws IOException {
        assertEquals(200, get("/v1/cache/list").status());
        assertEquals(List.of(new ListSource.ListQuery(null, null, null, null, null, 100, null, false)), queries);
        for (String bad : List.of("limit=0", "limit=1001", "limit=x", "limit=", "count=url", "limit=1&limit=2")) {
            assertEquals(400, get("/v1/cache/list?" + bad).status(), bad);
        }
        assertEquals(1, queries.size());
    }

    /** One rule for every resource: what is there twice or is empty is not guessed at. */
    @ParameterizedTest
    @CsvSource({
        "/v1/cache/list?, prefix",
        "/v1/cache/list?, count",
        "/v1/cache/list?, where",
        "/v1/explain?url=http://h/&, client",
        "/v1/explain?url=http://h/&, method",
        "/v1/explain?url=http://h/&, port",
        "/v1/explain?url=http://h/&, to_proxy",
        "/v1/explain?url=http://h/&, http2",
        "/v1/server/threads?, depth"
    })
    void anOptionalParameterStandsThereOnceWithAValue(String target, String name) throws IOException {
        Response twice = get(target + name + "=1&" + name + "=1");
        assertEquals(400, twice.status());
        assertTrue(twice.body().contains("the query parameter '" + name + "' is given twice"), twice.body());
        for (String empty : List.of(name, name + "=")) {
            Response none = get(target + empty);
            assertEquals(400, none.status());
            assertTrue(none.body().contains("the query parameter '" + name + "' is empty"), none.body());
        }
    }

    @Test
    void aWordThatIsNeitherTrueNorFalseIsNotGuessedAt() throws IOException {
        assertEquals(400, get("/v1/explain?url=http://h/&to_proxy=yes").status());
    }

    /** Longer than a proxy takes it by default, or nobody could ask what becomes of it. */
    @Test
    void aQuestionAboutALongRequestFitsIntoTheLine() throws IOException {
        Response response = get("/v1/explain?url=http://h/&header=A:" + "%20".repeat(33 << 10));
        assertEquals(500, response.status(), response.body());
        assertTrue(
                response.body().contains("Question[url=http://h/"),
                response.body().substring(0, 100));
    }

    @Test
    void livezAndReadyz() throws IOException {
        assertEquals("{\"live\":true}", get("/livez").body());
        assertEquals("{\"ready\":true}", get("/readyz").body());
        health.problem = "draining";
        assertEquals(503, get("/livez").status());
        Response notReady = get("/readyz");
        assertEquals(503, notReady.status());
        assertEquals("{\"error\":{\"code\":\"not-ready\",\"message\":\"draining\"}}", notReady.body());
    }

    @Test
    void purgeOfAUrl() throws IOException {
        Response response = post("/v1/cache/purge", "{\"url\": \"http://h/p\\u00e4\"}");
        assertEquals(200, response.status());
        assertEquals(
                "{\"scope\":\"url\",\"target\":\"http://h/p\u00e4\",\"url\":\"http://h/p\u00e4\",\"purged\":true,"
                        + "\"detail\":\"it was stored\",\"id\":\"u1\",\"state\":\"done\",\"objects\":null}",
                response.body());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "{\"host\":\"h:81\"}                                   | HOST   | h:81 null       | soft=false",
                "{\"prefix\":\"http://h/a\",\"mode\":\"soft\"}     | PREFIX | null http://h/a | soft=true",
                "{\"host\":\"h\",\"group\":\"g\",\"mode\":\"hard\"} | GROUP  | h g             | soft=false",
                "{\"scope\":\"all\"}                                   | ALL    | null null       | soft=false",
                "{\"tags\":[\"a\",\"b\"],\"site\":\"s\"}           | TAG    | null null       | soft=false",
                "{\"tags\":[\"a\"],\"mode\":\"soft\"}              | TAG    | null null       | soft=true",
                "{\"url\":\"http://h/a\",\"mode\":\"soft\"}        | URL    | null http://h/a | soft=true"
            })
    void purgeOfMoreThanAUrl(String body, String scope, String target, String detail) throws IOException {
        Response response = post("/v1/cache/purge", body);
        assertEquals(200, response.status(), response.body());
        assertEquals(
                "{\"scope\":\"" + scope + "\",\"target\":\"" + target + "\",\"stamp\":7,\"detail\":\"" + detail
                        + "\",\"id\":\"s7\",\"state\":\"done\",\"objects\":null}",
                response.body());
    }

    @Test
    void purgeOfWhatIsNoUrlIsTheServicesError() throws IOException {
        Response response = post("/v1/cache/purge", "{\"url\": \"nonsense\"}");
        assertEquals(400, response.status());
        assertEquals("{\"error\":{\"code\":\"bad-url\",\"message\":\"not a URL\"}}", response.body());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "{}",
                "[]",
                "null",
                "{\"url\":\"\"}",
                "{\"url\":1}",
                "{\"url\":[\"http://h/\"]}",
                "{\"url\":\"http://h/\",\"other\":\"x\"}",
                "{\"url\":\"http://h/\",\"url\":\"http://h/\"}",
                "{\"url\":\"http://h/\"",
                "{\"url\":\"http://h/\"} x",
                "{\"url\":\"http://h/\",\"host\":\"h\"}",
                "{\"url\":\"\",\"mode\":\"soft\"}",
                "{\"url\":\"http://h/\",\"tags\":[\"a\"]}",
                "{\"tags\":[]}",
                "{\"tags\":\"a\"}",
                "{\"tags\":[\"a\"],\"host\":\"h\"}",
                "{\"site\":\"s\"}",
                "{\"host\":\"h\",\"site\":\"s\"}",
                "{\"host\":\"\"}",
                "{\"host\":\"h\",\"prefix\":\"http://h/a\"}",
                "{\"group\":\"g\"}",
                "{\"scope\":\"some\"}",
                "{\"scope\":\"all\",\"host\":\"h\"}",
                "{\"host\":\"h\",\"mode\":\"mild\"}",
                "{\"host\":\"h\",\"group\":\"\\ud800\"}",
                "{\"tags\":[\"a\\udc00\"]}",
                "{\"host\":\"h\",\"\\ud800\":\"x\"}",
                "{\"host\":\"h\",\"mode\":\"\\ud800\"}",
                "url=http://h/"
            })
    void purgeNeedsExactlyOneThing(String body) throws IOException {
        Response response = post("/v1/cache/purge", body);
        assertEquals(400, response.status(), response.body());
        assertTrue(response.body().startsWith("{\"error\":{\"code\":\"bad-request\",\"message\":"), response.body());
    }

    @Test
    void lookupOfWhatIsStored() throws IOException {
        found = new LookupReport(
                "http://h/p?q=1",
                "http://h/p?q=1",
                "map http://h/ http://o/",
                new Stored(
                        "ram", 200, true, 10, 60, 1234, List.of("Accept-Encoding"), "\"x\"", null, List.of("t1", "t2")),
                "fresh for 50 s");
        Response response = get("/v1/cache/lookup?url=http%3A%2F%2Fh%2Fp%3Fq%3D1"
                + "&header=Accept-Encoding:%20gzip,%20br&header=X:a:b");
        assertEquals(200, response.status());
        assertEquals(
                "{\"url\":\"http://h/p?q=1\",\"key\":\"http://h/p?q=1\",\"rule\":\"map http://h/ http://o/\","
                        + "\"stored\":true,\"tier\":\"ram\",\"status\":200,\"fresh\":true,\"age_seconds\":10,"
                        + "\"freshness_lifetime_seconds\":60,\"ttl_seconds\":50,\"length\":1234,"
                        + "\"vary\":[\"Accept-Encoding\"],\"etag\":\"\\\"x\\\"\",\"last_modified\":null,\"tags\":[\"t1\",\"t2\"],"
                        + "\"reason\":\"fresh for 50 s\"}",
                response.body());
        assertEquals(List.of(new Field("Accept-Encoding", "gzip, br"), new Field("X", "a:b")), fields);
    }

    @Test
    void lookupOfWhatIsNotStored() throws IOException {
        found = new LookupReport("http://h/", null, null, null, "no remap rule matches");
        assertEquals(
                "{\"url\":\"http://h/\",\"key\":null,\"rule\":null,\"stored\":false,"
                        + "\"reason\":\"no remap rule matches\"}",
                get("/v1/cache/lookup?url=http://h/").body());
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "/v1/cache/lookup",
                "/v1/cache/lookup?url=",
                "/v1/cache/lookup?url=a&url=b",
                "/v1/cache/lookup?url=http://h/&header=novalue",
                "/v1/cache/lookup?url=http://h/&header=:x",
                "/v1/cache/lookup?url=http://h/&header=a%20b:x",
                "/v1/cache/lookup?url=http://h/&header=a:b%0d%0ac:d"
            })
    void lookupNeedsOneUrlAndProperFields(String target) throws IOException {
        Response response = get(target);
        assertEquals(400, response.status(), response.body());
        assertTrue(response.body().contains("\"code\":\"bad-request\""), response.body());
    }

    @Test
    void checkOfAConfiguration() throws IOException {
        assertEquals(
                "{\"ok\":true,\"problems\":[]}",
                post("/v1/config/check", "{\"file\":\"/etc/good.yaml\"}").body());
        assertEquals(
                "{\"ok\":false,\"problems\":[" + PROBLEM_JSON + "]}",
                post("/v1/config/check", "{\"file\":\"/etc/m.yaml\"}").body());
    }

    @Test
    void aConfigurationWithWarningsOnlyIsOk() throws IOException {
        assertEquals(
                "{\"ok\":true,\"problems\":[" + PROBLEM_JSON + "]}",
                post("/v1/config/check", "{\"file\":\"/etc/warned.yaml\"}").body());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "{}", "{\"file\":\"relative.yaml\"}", "{\"file\":\"/nul\\u0000\"}"})
    void checkNeedsAnAbsolutePath(String body) throws IOException {
        assertEquals(400, post("/v1/config/check", body).status());
    }

    @Test
    void reloadSaysWhatBecameOfEachSetting() throws IOException {
        config.reload = CompletableFuture.completedFuture(new ReloadReport(
                true,
                List.of(
                        new Setting("remap", ConfigControl.Result.APPLIED, "2 rules"),
                        new Setting("worker.heap_size", ConfigControl.Result.ROLLED, "worker 12"),
                        new Setting("listen", ConfigControl.Result.RELAUNCH, "after a relaunch")),
                List.of()));
        String expected =
                "{\"ok\":true,\"settings\":[{\"key\":\"remap\",\"result\":\"applied\",\"detail\":\"2 rules\"},"
                        + "{\"key\":\"worker.heap_size\",\"result\":\"rolled\",\"detail\":\"worker 12\"},"
                        + "{\"key\":\"listen\",\"result\":\"relaunch\",\"detail\":\"after a relaunch\"}],\"problems\":[],"
                        + "\"notes\":[]}";
        assertEquals(expected, post("/v1/config/reload", "{}").body());
        assertEquals("uid " + Files.getAttribute(Path.of("/proc/self"), "unix:uid"), config.caller.inWords());
        assertEquals(expected, post("/v1/config/reload", "").body());
        assertEquals(400, post("/v1/config/reload", "{\"file\":\"/x\"}").status());
    }

    @Test
    void aRejectedReloadIsAReportAndAFailedOneAnError() throws IOException {
        config.reload = CompletableFuture.completedFuture(new ReloadReport(
                false, List.of(new Setting("listen", ConfigControl.Result.REJECTED, "port in use")), List.of(PROBLEM)));
        Response rejected = post("/v1/config/reload", "{}");
        assertEquals(200, rejected.status());
        assertEquals(
                "{\"ok\":false,\"settings\":[{\"key\":\"listen\",\"result\":\"rejected\",\"detail\":\"port in use\"}],"
                        + "\"problems\":[" + PROBLEM_JSON + "],\"notes\":[]}",
                rejected.body());

        config.reload = CompletableFuture.failedFuture(new AdminException(409, "in-progress", "a reload runs"));
        assertEquals(409, post("/v1/config/reload", "{}").status());
    }

    private static CompletionStage<InvalidationReport> invalidate(InvalidationService.Scope scope) {
        return CompletableFuture.completedFuture(new InvalidationReport(
                scope.kind().name(), scope.host() + " " + scope.text(), 7, "soft=" + scope.soft()));
    }

    private static CompletionStage<PurgeReport> purge(String url) {
        return url.startsWith("http")
                ? CompletableFuture.completedFuture(new PurgeReport(url, true, "it was stored", "u1"))
                : CompletableFuture.failedFuture(new AdminException(400, "bad-url", "not a URL"));
    }

    private CompletionStage<LookupReport> lookup(String url, List<Field> requestFields) {
        fields.addAll(requestFields);
        return CompletableFuture.completedFuture(found);
    }

    private Response get(String target) throws IOException {
        return HttpExchange.get(socket, target);
    }

    private Response post(String target, String body) throws IOException {
        return HttpExchange.post(socket, target, body);
    }

    private static final class FixedHealth implements HealthSource {
        private volatile String problem;

        @Override
        public String notLive() {
            return problem;
        }

        @Override
        public String notReady() {
            return problem;
        }
    }

    private static final class FixedConfig implements ConfigControl {
        private volatile CompletionStage<ReloadReport> reload;
        private volatile AdminCaller caller = AdminCaller.UNKNOWN;

        @Override
        public CheckReport check(Path file) {
            if (file.endsWith("warned.yaml")) {
                return new CheckReport(true, List.of(PROBLEM));
            }
            return new CheckReport(file.endsWith("m.yaml") ? List.of(PROBLEM) : List.of());
        }

        @Override
        public CompletionStage<ReloadReport> reload(AdminCaller client) {
            caller = client;
            return reload;
        }
    }
}
