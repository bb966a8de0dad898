package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.admin.access.AdminAccess;
import io.millrace.proxy.admin.cache.CurveResource;
import io.millrace.proxy.admin.cache.CurveSource;
import io.millrace.proxy.admin.cache.ExplainResource;
import io.millrace.proxy.admin.cache.ExplainSource;
import io.millrace.proxy.admin.cache.InvalidationService;
import io.millrace.proxy.admin.cache.ListResource;
import io.millrace.proxy.admin.cache.ListSource;
import io.millrace.proxy.admin.cache.LookupResource;
import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.cache.PurgeResource;
import io.millrace.proxy.admin.cache.PurgeService;
import io.millrace.proxy.admin.cache.StorageChangeResource;
import io.millrace.proxy.admin.cache.StorageResource;
import io.millrace.proxy.admin.config.ConfigChangeResource;
import io.millrace.proxy.admin.config.ConfigCheckResource;
import io.millrace.proxy.admin.config.ConfigDiffResource;
import io.millrace.proxy.admin.config.ConfigHistoryResource;
import io.millrace.proxy.admin.config.ConfigReloadResource;
import io.millrace.proxy.admin.config.ConfigSchemaResource;
import io.millrace.proxy.admin.config.ConfigSettingsResource;
import io.millrace.proxy.admin.copy.ImportResource;
import io.millrace.proxy.admin.copy.ObjectResource;
import io.millrace.proxy.admin.dashboard.Dashboard;
import io.millrace.proxy.admin.dashboard.LoopbackListeners;
import io.millrace.proxy.admin.dashboard.SharedReplies;
import io.millrace.proxy.admin.fleet.FleetConfigResource;
import io.millrace.proxy.admin.fleet.FleetPurgeResource;
import io.millrace.proxy.admin.fleet.FleetReadResource;
import io.millrace.proxy.admin.fleet.FleetStatusResource;
import io.millrace.proxy.admin.history.EventsResource;
import io.millrace.proxy.admin.history.HistoryResource;
import io.millrace.proxy.admin.log.KeptLogResource;
import io.millrace.proxy.admin.log.LiveLogResource;
import io.millrace.proxy.admin.log.LogFieldsResource;
import io.millrace.proxy.admin.origin.HostsResource;
import io.millrace.proxy.admin.origin.OriginChangeResource;
import io.millrace.proxy.admin.origin.OriginsResource;
import io.millrace.proxy.admin.purge.PurgeChangeResource;
import io.millrace.proxy.admin.purge.PurgeDryRunResource;
import io.millrace.proxy.admin.purge.PurgeListResource;
import io.millrace.proxy.admin.purge.PurgeShowResource;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminException;
import io.millrace.proxy.admin.resource.AdminReply;
import io.millrace.proxy.admin.resource.AdminRequest;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.resource.Json;
import io.millrace.proxy.admin.resource.RequestSender;
import io.millrace.proxy.admin.status.AlarmsResource;
import io.millrace.proxy.admin.status.ExtensionsResource;
import io.millrace.proxy.admin.status.ExtensionsSource;
import io.millrace.proxy.admin.status.LivezResource;
import io.millrace.proxy.admin.status.MemoryResource;
import io.millrace.proxy.admin.status.MemorySource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ReadyzResource;
import io.millrace.proxy.admin.status.RestartResource;
import io.millrace.proxy.admin.status.ServerResource;
import io.millrace.proxy.admin.status.StatusResource;
import io.millrace.proxy.admin.status.ThreadsResource;
import io.millrace.proxy.admin.status.TrafficResource;
import io.millrace.proxy.admin.tls.CertificateCheckResource;
import io.millrace.proxy.admin.tls.CertificatesResource;
import io.millrace.proxy.admin.tls.RenewResource;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.observe.host.HostFigures;
import io.millrace.proxy.observe.log.live.LiveLog;
import io.millrace.proxy.observe.log.live.LiveLogSample;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.snakeyaml.engine.v2.api.Load;
import org.snakeyaml.engine.v2.api.LoadSettings;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;

/** Holds {@code docs/reference/admin-api.yaml} to what the resources answer. */
class AdminApiReferenceTest {
    private static final Path PAGE = Path.of("..", "docs", "reference", "admin-api.yaml");

    private static final List<AdminResource> FLEET_CONFIG = FleetConfigResource.all(SampleSources.FLEET_CONFIG);
    private static final LiveLog LIVE_LOG = LiveLogSample.create();
    private static final String VIEWER = LiveLogSample.watchOne(LIVE_LOG);

    /** A resource with the schema of its answer and a request that it answers in full. */
    record Documented(String schema, AdminResource resource, String query, String body) {}

    /** The resources of the dashboard but its files, of which the page has the first. */
    private static List<AdminResource> ofDashboard() {
        LoopbackListeners listeners = new LoopbackListeners() {
            @Override
            public CompletionStage<Listener> open() {
                return CompletableFuture.completedFuture(new Listener() {
                    @Override
                    public InetSocketAddress address() {
                        return new InetSocketAddress(InetAddress.getLoopbackAddress(), 1);
                    }

                    @Override
                    public void close() {}
                });
            }

            @Override
            public void schedule(Runnable task, Duration delay) {}
        };
        return new Dashboard(AdminAccess.none(), listeners, limit -> {}, () -> 0)
                .resources().stream()
                        .filter(resource -> !resource.path().startsWith("/ui")
                                || resource.path().equals("/ui/"))
                        .toList();
    }

    private static Documented ofDashboard(String path, String schema, String body) {
        return new Documented(
                schema,
                ofDashboard().stream()
                        .filter(resource -> resource.path().equals(path))
                        .findFirst()
                        .orElseThrow(),
                "",
                body);
    }

    /** A request of the dashboard's page. */
    private static final RequestSender PAGE_OF_DASHBOARD = new RequestSender(
            InetAddress.getLoopbackAddress(), false, name -> name.equals("host") ? "localhost:1" : "x");

    static List<Documented> documented() {
        return List.of(
                new Documented("Status", new StatusResource(() -> ResourcesTest.STATUS), "", ""),
                new Documented(
                        "CheckReport", new ConfigCheckResource(SampleSources.CONFIG, null), "", "{\"file\":\"/f\"}"),
                new Documented("ReloadReport", new ConfigReloadResource(SampleSources.CONFIG), "", "{}"),
                new Documented(
                        "ReloadReport",
                        ConfigChangeResource.plan(SampleSources.CHANGER, null),
                        "",
                        "{\"file\":\"/f\"}"),
                new Documented(
                        "ReloadReport",
                        ConfigChangeResource.set(SampleSources.CHANGER),
                        "",
                        "{\"settings\":{\"k\":\"v\"},\"save\":true}"),
                new Documented(
                        "ReloadReport", ConfigChangeResource.reset(SampleSources.CHANGER), "", "{\"keys\":[\"k\"]}"),
                new Documented("ReloadReport", ConfigChangeResource.rollback(SampleSources.CHANGER), "", "{\"to\":1}"),
                new Documented("SettingsReport", new ConfigSettingsResource(SampleSources.INSPECTOR), "?key=k", ""),
                new Documented(
                        "AlarmList",
                        new AlarmsResource(() -> List.of(new Alarm(AlarmKind.DISK_OFFLINE, "/p", "t", 1)), () -> 1000),
                        "",
                        ""),
                new Documented("LogFields", new LogFieldsResource(), "", ""),
                new Documented("KeptRequests", new KeptLogResource(LIVE_LOG), "?kind=failed", ""),
                new Documented("LiveBatch", new LiveLogResource(LIVE_LOG), "?wait=0&viewer=" + VIEWER, ""),
                new Documented(
                        "EventList", new EventsResource(SampleSources.EVENTS, () -> 1000), "?kind=purge&limit=1", ""),
                new Documented(
                        "History",
                        new HistoryResource(SampleSources.HISTORY, () -> 1_000_000),
                        "?step=10s&series="
                                + "requests,hits,sent_bytes,origin_bytes,origin_requests,origin_failures,errors,latency,buckets",
                        ""),
                new Documented("DiffReport", new ConfigDiffResource(SampleSources.INSPECTOR), "?from=1&to=2", ""),
                new Documented("HistoryReport", new ConfigHistoryResource(SampleSources.INSPECTOR), "", ""),
                new Documented("", new ConfigSchemaResource(), "", ""),
                new Documented(
                        "PurgeReport",
                        new PurgeResource(
                                url -> CompletableFuture.completedFuture(
                                        new PurgeService.PurgeReport(url, true, "d", "u1", -1, "pending")),
                                scope ->
                                        CompletableFuture.failedFuture(new AdminException(400, "bad-request", "none"))),
                        "",
                        "{\"url\":\"http://h/\"}"),
                new Documented(
                        "InvalidationReport",
                        new PurgeResource(
                                url -> CompletableFuture.failedFuture(new AdminException(400, "bad-request", "none")),
                                scope -> CompletableFuture.completedFuture(new InvalidationService.InvalidationReport(
                                        "host", "h", 7, "d", -1, false, "pending"))),
                        "",
                        "{\"host\":\"h\"}"),
                new Documented("FleetStatus", new FleetStatusResource(SampleSources.FLEET), "", ""),
                new Documented(
                        "",
                        new FleetReadResource((node, target) -> CompletableFuture.completedFuture(
                                AdminReply.json(json -> json.writeStringProperty(node, target)))),
                        "?node=n&target=/v1/status",
                        ""),
                new Documented("FleetConfigStatus", FLEET_CONFIG.get(0), "", ""),
                new Documented("FleetConfigHistory", FLEET_CONFIG.get(1), "", ""),
                new Documented(
                        "FleetConfigPart",
                        FLEET_CONFIG.get(2),
                        "",
                        "{\"content\":\"" + "0".repeat(64) + "\",\"part\":0,\"data\":\"AA==\"}"),
                new Documented(
                        "FleetConfigPush",
                        FLEET_CONFIG.get(3),
                        "",
                        "{\"statement\":\"s\",\"signature\":\"c2ln\",\"fallback\":\"f\","
                                + "\"fallback_signature\":\"c2ln\"}"),
                new Documented("FleetPurge", new FleetPurgeResource(SampleSources.FLEET), "?id=s1", ""),
                new Documented("FastlyPurge", SampleSources.FASTLY.get(0), "", ""),
                new Documented("", SampleSources.FASTLY.get(1), "", "{\"surrogate_keys\":[\"k\"]}"),
                new Documented("FastlyStatus", SampleSources.FASTLY.get(2), "", ""),
                new Documented("CloudflarePurge", SampleSources.CLOUDFLARE.get(0), "", "{\"tags\":[\"k\"]}"),
                new Documented("CloudflarePurge", SampleSources.CLOUDFLARE.get(1), "", "{\"purge_everything\":true}"),
                new Documented("PurgeList", new PurgeListResource(SampleSources.PURGES), "?limit=5&before=s2", ""),
                new Documented("PurgeRecord", new PurgeShowResource(SampleSources.PURGES), "?id=s1", ""),
                new Documented("PurgeRecord", PurgeChangeResource.undo(SampleSources.PURGES), "", "{\"id\":\"s1\"}"),
                new Documented("PurgeRecord", PurgeChangeResource.cancel(SampleSources.PURGES), "", "{\"id\":\"s1\"}"),
                new Documented(
                        "PurgeRecord",
                        new PurgeDryRunResource(
                                (scope, caller) -> CompletableFuture.completedFuture(SampleSources.PURGE)),
                        "",
                        "{\"host\":\"h\"}"),
                new Documented(
                        "LookupReport",
                        new LookupResource(
                                (url, fields) -> CompletableFuture.completedFuture(new LookupSource.LookupReport(
                                        url,
                                        "k",
                                        "r",
                                        new LookupSource.Stored(
                                                "disk", 200, false, 9, 5, 1, List.of("A"), "\"e\"", "d", List.of("t")),
                                        "stale",
                                        List.of(new LookupSource.LookupReport(url, "k", "r", null, "none"))))),
                        "?url=http://h/",
                        ""),
                new Documented(
                        "Explanation",
                        new ExplainResource(question -> CompletableFuture.completedFuture(new ExplainSource.Explanation(
                                question.url(),
                                question.method(),
                                "127.0.0.1",
                                80,
                                "fetch",
                                0,
                                "r",
                                null,
                                "k",
                                null,
                                "http://o/",
                                "g",
                                "http://h:80",
                                true,
                                List.of(new ExplainSource.Step("rule", "r", "f:1:2"))))),
                        "?url=http://h/",
                        ""),
                new Documented("ServerReport", ServerResource.report(SampleSources.SERVER), "", ""),
                new Documented("ServerReport", ServerResource.drain(SampleSources.SERVER), "", "{\"undo\":\"true\"}"),
                new Documented("ThreadReport", new ThreadsResource(SampleSources.SERVER), "?depth=3", ""),
                new Documented(
                        "RestartReport",
                        new RestartResource(
                                () -> CompletableFuture.completedFuture(new RestartResource.RestartReport(1, 2, 3))),
                        "",
                        "{}"),
                new Documented(
                        "CurveReport",
                        new CurveResource(() -> new CurveSource.CurveView(
                                "fill",
                                7,
                                8,
                                0.9,
                                "lru",
                                1,
                                0.5,
                                2,
                                3,
                                4,
                                List.of(new CurveSource.Size(
                                        2,
                                        5,
                                        new CurveSource.Ratio(0.1, 0.2),
                                        new CurveSource.Ratio(0.3, 0.4),
                                        new CurveSource.Ratio(0.5, 0.6))),
                                List.of(new CurveSource.Host("h", 6, List.of(0.7))))),
                        "",
                        ""),
                new Documented("StorageReport", new StorageResource(SampleSources.STORAGE), "", ""),
                new Documented(
                        "ExtensionList",
                        new ExtensionsResource(
                                () -> List.of(new ExtensionsSource.ExtensionStatus(
                                        "ab",
                                        "1.2",
                                        "n",
                                        "/a.jar",
                                        "00ff",
                                        "A",
                                        "active",
                                        List.of(new ExtensionsSource.HookStatus("deliver", 2, 1, 3)),
                                        "deliver: exception",
                                        4)),
                                () -> 5000),
                        "",
                        ""),
                new Documented(
                        "MemoryReport",
                        new MemoryResource(() -> new MemorySource.MemoryReport(
                                1,
                                2,
                                3,
                                4,
                                List.of(new MemorySource.Part("heap", 5)),
                                List.of(new MemorySource.Part("index", 6)),
                                7,
                                8,
                                new MemorySource.InFlight(9, 10, 11, 12))),
                        "",
                        ""),
                new Documented(
                        "StorageReport",
                        StorageChangeResource.offline(SampleSources.STORAGE),
                        "",
                        "{\"path\":\"/p\",\"reason\":\"why\"}"),
                new Documented(
                        "StorageReport", StorageChangeResource.online(SampleSources.STORAGE), "", "{\"path\":\"/p\"}"),
                new Documented(
                        "ListReport",
                        new ListResource(query -> CompletableFuture.completedFuture(new ListSource.ListReport(
                                List.of(ResourcesTest.LISTED),
                                List.of(new ListSource.HostCount("h", 1, 2)),
                                "next",
                                false,
                                "reason"))),
                        "?limit=5",
                        ""),
                new Documented("StoredCopy", ObjectResource.head(SampleSources.COPIES), "?key=aA", ""),
                new Documented("", ObjectResource.content(SampleSources.COPIES), "?key=aA&version=v&position=0", ""),
                new Documented(
                        "CopyProgress",
                        ImportResource.begin(SampleSources.COPY_TARGET),
                        "",
                        "{\"url\":\"http://h/\",\"head\":\"\",\"length\":0,\"age_seconds\":0,\"requested_at_ms\":0,"
                                + "\"exported_at_ms\":0}"),
                new Documented(
                        "CopyProgress", ImportResource.content(SampleSources.COPY_TARGET), "?upload=i1&position=0", ""),
                new Documented(
                        "CopyProgress",
                        ImportResource.end(SampleSources.COPY_TARGET),
                        "?upload=i1",
                        "{\"sha256\":\"\"}"),
                new Documented("CopyProgress", ImportResource.abort(SampleSources.COPY_TARGET), "?upload=i1", ""),
                new Documented("OriginsReport", new OriginsResource(SampleSources.ORIGINS), "", ""),
                new Documented(
                        "OriginsReport",
                        OriginChangeResource.down(SampleSources.ORIGINS),
                        "",
                        "{\"origin\":\"shop\",\"reason\":\"why\",\"seconds\":\"60\"}"),
                new Documented("CertificatesReport", new CertificatesResource(SampleSources.CERTIFICATES), "", ""),
                new Documented(
                        "CertificateCheckReport",
                        new CertificateCheckResource(SampleSources.CERTIFICATES),
                        "?file=/f",
                        ""),
                new Documented(
                        "RenewReport",
                        new RenewResource(name -> CompletableFuture.completedFuture(
                                new RenewResource.Renewal(name, "https://issuer/", 1, "", 0))),
                        "",
                        "{\"name\":\"www.example.com\"}"),
                new Documented(
                        "OriginsReport", OriginChangeResource.up(SampleSources.ORIGINS), "", "{\"origin\":\"shop\"}"),
                new Documented("HostsReport", HostsResource.report(SampleSources.HOSTS), "?host=a.example", ""),
                new Documented(
                        "HostsCleared", HostsResource.clear(SampleSources.HOSTS), "", "{\"host\":\"a.example\"}"),
                ofDashboard("/ui/", "", ""),
                ofDashboard("/v1/session/end", "LogoutReport", "{}"),
                ofDashboard("/v1/sessions/end", "LogoutReport", "{}"),
                ofDashboard("/v1/dashboard/open", "DashboardReport", "{}"),
                new Documented(
                        "",
                        new SharedReplies(Runnable::run, () -> 0)
                                .snapshot("/v1/dashboard/metrics", new MetricsResource(() -> "")),
                        "",
                        ""),
                new Documented("", new MetricsResource(() -> ""), "", ""),
                new Documented(
                        "TrafficReport",
                        new TrafficResource(() -> new HostFigures.Report(
                                1,
                                List.of(new HostFigures.Row("h", 1, 1, 0, 0, 1)),
                                new HostFigures.Row(HostFigures.OTHER, 0, 0, 0, 0, 0))),
                        "",
                        ""),
                new Documented("Live", new LivezResource(SampleSources.HEALTHY), "", ""),
                new Documented("Ready", new ReadyzResource(SampleSources.HEALTHY), "", ""));
    }

    @Test
    void everyResourceIsOnThePageAndNothingElse() throws IOException {
        Set<String> found = new TreeSet<>();
        map(page(), "paths").forEach((path, methods) -> ((Map<?, ?>) methods)
                .keySet()
                .forEach(method -> found.add(method.toString().toUpperCase(Locale.ROOT) + " " + path)));
        Set<String> served = new TreeSet<>();
        for (Documented one : documented()) {
            served.add(one.resource().method() + " " + one.resource().path());
        }
        for (AdminResource one : ofDashboard()) {
            served.add(one.method() + " " + one.path());
        }
        assertEquals(served, found);
    }

    @ParameterizedTest
    @MethodSource("documented")
    void theSchemaHasTheMembersOfTheAnswer(Documented documented) throws AdminException, IOException {
        AdminResource resource = documented.resource();
        AdminReply[] reply = new AdminReply[1];
        resource.handle(
                new AdminRequest(
                        resource.method(),
                        resource.path() + documented.query(),
                        resource.path(),
                        documented.body().getBytes(StandardCharsets.UTF_8),
                        documented.resource().path().equals("/ui/"),
                        AdminCaller.UNKNOWN,
                        Map.of(),
                        PAGE_OF_DASHBOARD),
                answer -> reply[0] = answer);
        assertEquals(200, reply[0].status());
        if (documented.schema().isEmpty()) {
            return;
        }
        Map<?, ?> schemas = map(map(page(), "components"), "schemas");
        Set<String> inSchema = new TreeSet<>();
        collectProperties(map(schemas, documented.schema()), schemas, inSchema);
        // Only the launcher adds these.
        Set<String> ofLauncher = Set.of("process", "launcher_pid", "warming_up", "seconds", "limit_seconds");
        inSchema.removeIf(name -> name.startsWith("worker_") || ofLauncher.contains(name));
        assertEquals(members(reply[0].body()), inSchema);
    }

    private static Set<String> members(byte[] json) {
        Set<String> names = new TreeSet<>();
        try (JsonParser parser = Json.parser(json)) {
            for (JsonToken token = parser.nextToken(); token != null; token = parser.nextToken()) {
                if (token == JsonToken.PROPERTY_NAME) {
                    names.add(parser.currentName());
                }
            }
        }
        return names;
    }

    private static void collectProperties(Map<?, ?> schema, Map<?, ?> schemas, Set<String> names) {
        Object reference = schema.get("$ref");
        if (reference != null) {
            String name = reference.toString().substring("#/components/schemas/".length());
            collectProperties(map(schemas, name), schemas, names);
        }
        if (schema.get("items") instanceof Map<?, ?> items) {
            collectProperties(items, schemas, names);
        }
        if (schema.get("properties") instanceof Map<?, ?> properties) {
            properties.forEach((name, property) -> {
                names.add(name.toString());
                collectProperties((Map<?, ?>) property, schemas, names);
            });
        }
    }

    private static Map<?, ?> page() throws IOException {
        return (Map<?, ?>) new Load(LoadSettings.builder().build()).loadFromString(Files.readString(PAGE));
    }

    private static Map<?, ?> map(Map<?, ?> parent, String name) {
        Object child = parent.get(name);
        assertNotNull(child, name);
        return (Map<?, ?>) child;
    }
}
