package io.millrace.proxy.admin;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;

import io.millrace.proxy.admin.access.AdminAccess;
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
import io.millrace.proxy.admin.cache.StorageControl;
import io.millrace.proxy.admin.cache.StorageResource;
import io.millrace.proxy.admin.config.ConfigChangeResource;
import io.millrace.proxy.admin.config.ConfigChanger;
import io.millrace.proxy.admin.config.ConfigCheckResource;
import io.millrace.proxy.admin.config.ConfigControl;
import io.millrace.proxy.admin.config.ConfigDiffResource;
import io.millrace.proxy.admin.config.ConfigHistoryResource;
import io.millrace.proxy.admin.config.ConfigInspector;
import io.millrace.proxy.admin.config.ConfigReloadResource;
import io.millrace.proxy.admin.config.ConfigSchemaResource;
import io.millrace.proxy.admin.config.ConfigSettingsResource;
import io.millrace.proxy.admin.copy.CopySource;
import io.millrace.proxy.admin.copy.CopyTarget;
import io.millrace.proxy.admin.copy.ImportResource;
import io.millrace.proxy.admin.copy.ObjectResource;
import io.millrace.proxy.admin.dashboard.Dashboard;
import io.millrace.proxy.admin.dashboard.LoopbackListeners;
import io.millrace.proxy.admin.dashboard.SharedSnapshot;
import io.millrace.proxy.admin.fleet.FleetPurgeResource;
import io.millrace.proxy.admin.fleet.FleetSource;
import io.millrace.proxy.admin.fleet.FleetStatusResource;
import io.millrace.proxy.admin.history.EventSource;
import io.millrace.proxy.admin.history.EventsResource;
import io.millrace.proxy.admin.history.HistoryResource;
import io.millrace.proxy.admin.history.HistorySource;
import io.millrace.proxy.admin.origin.OriginChangeResource;
import io.millrace.proxy.admin.origin.OriginControl;
import io.millrace.proxy.admin.origin.OriginsResource;
import io.millrace.proxy.admin.purge.PurgeChangeResource;
import io.millrace.proxy.admin.purge.PurgeControl;
import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
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
import io.millrace.proxy.admin.status.HealthSource;
import io.millrace.proxy.admin.status.LivezResource;
import io.millrace.proxy.admin.status.MemoryResource;
import io.millrace.proxy.admin.status.MemorySource;
import io.millrace.proxy.admin.status.MetricsResource;
import io.millrace.proxy.admin.status.ReadyzResource;
import io.millrace.proxy.admin.status.RestartResource;
import io.millrace.proxy.admin.status.ServerResource;
import io.millrace.proxy.admin.status.ServerSource;
import io.millrace.proxy.admin.status.StatusResource;
import io.millrace.proxy.admin.status.ThreadsResource;
import io.millrace.proxy.admin.tls.CertificateCheckResource;
import io.millrace.proxy.admin.tls.CertificatesResource;
import io.millrace.proxy.admin.tls.CertificatesSource;
import io.millrace.proxy.admin.tls.RenewResource;
import io.millrace.proxy.admin.vendor.CloudflareResource;
import io.millrace.proxy.admin.vendor.FastlyResource;
import io.millrace.proxy.admin.vendor.SiteSource;
import io.millrace.proxy.admin.vendor.VendorPurges;
import io.millrace.proxy.config.key.ConfigKey;
import io.millrace.proxy.config.key.ConfigKeys;
import io.millrace.proxy.observe.event.Event;
import io.millrace.proxy.observe.event.EventKind;
import io.millrace.proxy.purge.record.PurgeClient;
import io.millrace.proxy.purge.record.PurgeRecord;
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

    private static final HealthSource HEALTHY = new HealthSource() {
        @Override
        public String notLive() {
            return null;
        }

        @Override
        public String notReady() {
            return null;
        }
    };

    private static final ConfigControl CONFIG = new ConfigControl() {
        private static final Problem PROBLEM = new Problem("f", 1, 1, "p", "m", null, "t");

        @Override
        public CheckReport check(Path file) {
            return new CheckReport(List.of(PROBLEM));
        }

        @Override
        public CompletionStage<ReloadReport> reload() {
            return CompletableFuture.completedFuture(new ReloadReport(
                    false, List.of(new ConfigControl.Setting("k", Result.REJECTED, "d")), List.of(PROBLEM)));
        }
    };

    private static final ConfigChanger CHANGER = new ConfigChanger() {
        @Override
        public CompletionStage<ConfigControl.ReloadReport> plan(Path file) {
            return CONFIG.reload();
        }

        @Override
        public CompletionStage<ConfigControl.ReloadReport> set(Map<String, String> settings, boolean save) {
            return CONFIG.reload();
        }

        @Override
        public CompletionStage<ConfigControl.ReloadReport> reset(List<String> keys) {
            return CONFIG.reload();
        }

        @Override
        public CompletionStage<ConfigControl.ReloadReport> rollback(int entry) {
            return CONFIG.reload();
        }
    };

    private static final ConfigInspector INSPECTOR = new ConfigInspector() {
        private static final Difference DIFFERENCE =
                new Difference("k", "b", "a", Source.OVERLAY, "p", List.of("V"), ConfigKey.Apply.LIVE);

        @Override
        public List<KeyValue> settings(List<String> names) {
            return List.of(new KeyValue(ConfigKeys.CACHE_RAM_SIZE, "v", Source.OVERLAY, "p", List.of("V"), "u", "i"));
        }

        @Override
        public DiffReport diff() {
            return new DiffReport(List.of(DIFFERENCE), List.of(DIFFERENCE), List.of("n"));
        }

        @Override
        public DiffReport diff(int from, int to) {
            return diff();
        }

        @Override
        public List<Entry> history() {
            return List.of(new Entry(1, "t", "set", "f", List.of("o"), List.of("c"), true));
        }
    };

    private static final CertificatesSource CERTIFICATES = new CertificatesSource() {
        @Override
        public List<AutomaticCertificate> automatic() {
            return List.of(new AutomaticCertificate("n", "valid", "https://issuer/", 1, 2, 3, 0, null, 0));
        }

        private static final Certificate ONE = new Certificate(
                "/f",
                "/k",
                List.of("n"),
                "valid",
                "i",
                1,
                2,
                "EC 256",
                "s",
                "h",
                List.of("c"),
                List.of("n"),
                List.of("max_version: TLSv1.2"),
                List.of(new CertificatesSource.Setting(
                        "max_version", "TLSv1.2", "tls.certificates[0]", "127.0.0.1:443")),
                3,
                "p",
                4,
                new Staple("missing", "http://ocsp.example/", true, 5, "p", 6));

        @Override
        public List<Certificate> certificates() {
            return List.of(ONE);
        }

        @Override
        public List<Directory> directories() {
            return List.of(new Directory("/d", "p"));
        }

        @Override
        public long nowSeconds() {
            return 1;
        }

        @Override
        public CompletionStage<CheckResult> check(Path file, Path key) {
            return CompletableFuture.completedFuture(new CheckResult(List.of(ONE), directories()));
        }
    };

    private static final StorageControl STORAGE = new StorageControl() {
        private static final Volume VOLUME =
                new Volume("/p", "default", 0.5, "offline", 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 13, "why");

        @Override
        public List<Volume> volumes() {
            return List.of(VOLUME);
        }

        @Override
        public CompletionStage<List<Volume>> offline(String path, String reason) {
            return CompletableFuture.completedFuture(List.of(VOLUME));
        }

        @Override
        public CompletionStage<List<Volume>> online(String path) {
            return CompletableFuture.completedFuture(List.of(VOLUME));
        }
    };

    private static final OriginControl ORIGINS = new OriginControl() {
        private static final Host HOST = new Host(
                "shop",
                "sticky",
                "http://a:80",
                1,
                true,
                false,
                "down",
                1,
                2,
                "reset",
                3,
                4,
                5,
                6,
                7,
                8,
                "1.1",
                9,
                10,
                11);

        @Override
        public long nowSeconds() {
            return 1;
        }

        @Override
        public List<Host> hosts() {
            return List.of(HOST);
        }

        @Override
        public CompletionStage<List<Host>> down(String origin, String reason, long seconds) {
            return CompletableFuture.completedFuture(List.of(HOST));
        }

        @Override
        public CompletionStage<List<Host>> up(String origin) {
            return CompletableFuture.completedFuture(List.of(HOST));
        }
    };

    static final ServerSource SERVER = new ServerSource() {
        @Override
        public ServerReport report() {
            return new ServerReport("running", false, 1, 2, 3.5, 4, 5, 6, List.of(new Loop("l", 1, 2, 3, 4)));
        }

        @Override
        public ServerReport drain(boolean undo) {
            return report();
        }

        @Override
        public ThreadReport threads(int depth) {
            return new ThreadReport(List.of(new ThreadView("t", "runnable", 1, List.of("f"))), 0);
        }
    };

    private static final FleetSource FLEET = new FleetSource() {
        @Override
        public Status status() {
            Node node = new Node("n", "edge", "1", "live", 1, 0, 0, List.of("3"));
            return new Status("f", "n", "edge", "connected", "", "validate", "t", 1, 1, 0, List.of(node));
        }

        @Override
        public Spread spread(String purgeId) {
            return new Spread(true, 1, "", List.of("n"), Map.of("m", "r"), Map.of("o", 7L));
        }
    };

    private static final VendorPurges VENDORS = new VendorPurges(
            url -> CompletableFuture.completedFuture(new PurgeService.PurgeReport(url, true, "d", "u1")),
            scope -> CompletableFuture.completedFuture(new InvalidationService.InvalidationReport("host", "h", 7, "d")),
            new SiteSource() {
                @Override
                public boolean isKnown(String site) {
                    return true;
                }

                @Override
                public List<String> hosts(String site) {
                    return List.of("h");
                }

                @Override
                public Set<String> sites(String url, boolean isWholeHost) {
                    return Set.of("h");
                }
            });

    private static final List<AdminResource> FASTLY = FastlyResource.all(VENDORS);
    private static final List<AdminResource> CLOUDFLARE = CloudflareResource.all(VENDORS);

    private static final PurgeView PURGE = new PurgeView(
            PurgeRecord.done("s1", 1, new PurgeClient("admin", 1, "t", "a"), "tag", "t", "s", true)
                    .counted(2, 3),
            4,
            new Count(2, 3, List.of("http://h/"), 5, 6, true, "n"),
            "done");

    private static final EventSource EVENTS = (since, after, kinds, limit) ->
            List.of(new EventSource.Numbered(1, new Event(1, EventKind.PURGE, "s", "t")));

    private static final HistorySource HISTORY = new HistorySource() {
        @Override
        public List<Archive> archives() {
            return List.of(new Archive(10, 400));
        }

        @Override
        public List<Point> read(long step, long from, long to) {
            long[] buckets = {1, 1};
            return List.of(new Point(990, 10_000, 1, 2, 3, 4, 5, 6, 7, buckets, buckets, buckets));
        }

        @Override
        public List<Long> boundsMicros() {
            return List.of(10L);
        }
    };

    private static final PurgeControl PURGES = new PurgeControl() {
        @Override
        public List<PurgeView> latest(String before, int limit) {
            return List.of(PURGE);
        }

        @Override
        public PurgeView find(String id) {
            return PURGE;
        }

        @Override
        public CompletionStage<PurgeView> undo(String id, AdminCaller caller) {
            return CompletableFuture.completedFuture(PURGE);
        }

        @Override
        public CompletionStage<PurgeView> cancel(String id, AdminCaller caller) {
            return CompletableFuture.completedFuture(PURGE);
        }
    };

    private static final CopySource COPIES = new CopySource() {
        @Override
        public CompletionStage<StoredCopy> head(byte[] key, AdminCaller caller) {
            return CompletableFuture.completedFuture(new StoredCopy(
                    "http://h/", new byte[1], true, List.of("A: b"), 1, 2, 3, 4, 5, 6, new byte[1], "v"));
        }

        @Override
        public CompletionStage<byte[]> content(byte[] key, String version, long position) {
            return CompletableFuture.completedFuture(new byte[1]);
        }
    };

    private static final CopyTarget COPY_TARGET = new CopyTarget() {
        private final CompletionStage<Progress> progress =
                CompletableFuture.completedFuture(new Progress("i1", false, "reason"));

        @Override
        public CompletionStage<Progress> begin(NewCopy copy, AdminCaller caller) {
            return progress;
        }

        @Override
        public CompletionStage<Progress> add(String upload, long position, byte[] content) {
            return progress;
        }

        @Override
        public CompletionStage<Progress> end(String upload, byte[] sha256) {
            return progress;
        }

        @Override
        public CompletionStage<Progress> abort(String upload) {
            return progress;
        }
    };

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
                new Documented("CheckReport", new ConfigCheckResource(CONFIG, null), "", "{\"file\":\"/f\"}"),
                new Documented("ReloadReport", new ConfigReloadResource(CONFIG), "", "{}"),
                new Documented("ReloadReport", ConfigChangeResource.plan(CHANGER, null), "", "{\"file\":\"/f\"}"),
                new Documented(
                        "ReloadReport",
                        ConfigChangeResource.set(CHANGER),
                        "",
                        "{\"settings\":{\"k\":\"v\"},\"save\":true}"),
                new Documented("ReloadReport", ConfigChangeResource.reset(CHANGER), "", "{\"keys\":[\"k\"]}"),
                new Documented("ReloadReport", ConfigChangeResource.rollback(CHANGER), "", "{\"to\":1}"),
                new Documented("SettingsReport", new ConfigSettingsResource(INSPECTOR), "?key=k", ""),
                new Documented("EventList", new EventsResource(EVENTS, () -> 1000), "?kind=purge&limit=1", ""),
                new Documented(
                        "History",
                        new HistoryResource(HISTORY, () -> 1_000_000),
                        "?step=10s&series="
                                + "requests,hits,sent_bytes,origin_bytes,origin_requests,origin_failures,errors,latency,buckets",
                        ""),
                new Documented("DiffReport", new ConfigDiffResource(INSPECTOR), "?from=1&to=2", ""),
                new Documented("HistoryReport", new ConfigHistoryResource(INSPECTOR), "", ""),
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
                new Documented("FleetStatus", new FleetStatusResource(FLEET), "", ""),
                new Documented("FleetPurge", new FleetPurgeResource(FLEET), "?id=s1", ""),
                new Documented("FastlyPurge", FASTLY.get(0), "", ""),
                new Documented("", FASTLY.get(1), "", "{\"surrogate_keys\":[\"k\"]}"),
                new Documented("FastlyStatus", FASTLY.get(2), "", ""),
                new Documented("CloudflarePurge", CLOUDFLARE.get(0), "", "{\"tags\":[\"k\"]}"),
                new Documented("CloudflarePurge", CLOUDFLARE.get(1), "", "{\"purge_everything\":true}"),
                new Documented("PurgeList", new PurgeListResource(PURGES), "?limit=5&before=s2", ""),
                new Documented("PurgeRecord", new PurgeShowResource(PURGES), "?id=s1", ""),
                new Documented("PurgeRecord", PurgeChangeResource.undo(PURGES), "", "{\"id\":\"s1\"}"),
                new Documented("PurgeRecord", PurgeChangeResource.cancel(PURGES), "", "{\"id\":\"s1\"}"),
                new Documented(
                        "PurgeRecord",
                        new PurgeDryRunResource((scope, caller) -> CompletableFuture.completedFuture(PURGE)),
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
                new Documented("ServerReport", ServerResource.report(SERVER), "", ""),
                new Documented("ServerReport", ServerResource.drain(SERVER), "", "{\"undo\":\"true\"}"),
                new Documented("ThreadReport", new ThreadsResource(SERVER), "?depth=3", ""),
                new Documented(
                        "RestartReport",
                        new RestartResource(
                                () -> CompletableFuture.completedFuture(new RestartResource.RestartReport(1, 2, 3))),
                        "",
                        "{}"),
                new Documented("StorageReport", new StorageResource(STORAGE), "", ""),
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
                        StorageChangeResource.offline(STORAGE),
                        "",
                        "{\"path\":\"/p\",\"reason\":\"why\"}"),
                new Documented("StorageReport", StorageChangeResource.online(STORAGE), "", "{\"path\":\"/p\"}"),
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
                new Documented("StoredCopy", ObjectResource.head(COPIES), "?key=aA", ""),
                new Documented("", ObjectResource.content(COPIES), "?key=aA&version=v&position=0", ""),
                new Documented(
                        "CopyProgress",
                        ImportResource.begin(COPY_TARGET),
                        "",
                        "{\"url\":\"http://h/\",\"head\":\"\",\"length\":0,\"age_seconds\":0,\"requested_at_ms\":0,"
                                + "\"exported_at_ms\":0}"),
                new Documented("CopyProgress", ImportResource.content(COPY_TARGET), "?upload=i1&position=0", ""),
                new Documented("CopyProgress", ImportResource.end(COPY_TARGET), "?upload=i1", "{\"sha256\":\"\"}"),
                new Documented("CopyProgress", ImportResource.abort(COPY_TARGET), "?upload=i1", ""),
                new Documented("OriginsReport", new OriginsResource(ORIGINS), "", ""),
                new Documented(
                        "OriginsReport",
                        OriginChangeResource.down(ORIGINS),
                        "",
                        "{\"origin\":\"shop\",\"reason\":\"why\",\"seconds\":\"60\"}"),
                new Documented("CertificatesReport", new CertificatesResource(CERTIFICATES), "", ""),
                new Documented("CertificateCheckReport", new CertificateCheckResource(CERTIFICATES), "?file=/f", ""),
                new Documented(
                        "RenewReport",
                        new RenewResource(name -> CompletableFuture.completedFuture(
                                new RenewResource.Renewal(name, "https://issuer/", 1, "", 0))),
                        "",
                        "{\"name\":\"www.example.com\"}"),
                new Documented("OriginsReport", OriginChangeResource.up(ORIGINS), "", "{\"origin\":\"shop\"}"),
                ofDashboard("/ui/", "", ""),
                ofDashboard("/v1/session/end", "LogoutReport", "{}"),
                ofDashboard("/v1/sessions/end", "LogoutReport", "{}"),
                ofDashboard("/v1/dashboard/open", "DashboardReport", "{}"),
                new Documented(
                        "",
                        new SharedSnapshot("/v1/dashboard/metrics", new MetricsResource(() -> ""), () -> 0),
                        "",
                        ""),
                new Documented("", new MetricsResource(() -> ""), "", ""),
                new Documented("Live", new LivezResource(HEALTHY), "", ""),
                new Documented("Ready", new ReadyzResource(HEALTHY), "", ""));
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
