package io.millrace.proxy.admin;

import io.millrace.proxy.admin.cache.InvalidationService;
import io.millrace.proxy.admin.cache.PurgeService;
import io.millrace.proxy.admin.cache.StorageControl;
import io.millrace.proxy.admin.config.ConfigChanger;
import io.millrace.proxy.admin.config.ConfigControl;
import io.millrace.proxy.admin.config.ConfigInspector;
import io.millrace.proxy.admin.copy.CopySource;
import io.millrace.proxy.admin.copy.CopyTarget;
import io.millrace.proxy.admin.fleet.FleetConfigSource;
import io.millrace.proxy.admin.fleet.FleetSource;
import io.millrace.proxy.admin.history.EventSource;
import io.millrace.proxy.admin.history.HistorySource;
import io.millrace.proxy.admin.origin.HostControl;
import io.millrace.proxy.admin.origin.OriginControl;
import io.millrace.proxy.admin.purge.PurgeControl;
import io.millrace.proxy.admin.purge.PurgeControl.Count;
import io.millrace.proxy.admin.purge.PurgeControl.PurgeView;
import io.millrace.proxy.admin.resource.AdminCaller;
import io.millrace.proxy.admin.resource.AdminResource;
import io.millrace.proxy.admin.status.HealthSource;
import io.millrace.proxy.admin.status.ServerSource;
import io.millrace.proxy.admin.tls.CertificatesSource;
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
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionStage;
import org.jspecify.annotations.Nullable;

/** The sources of the admin API with sample values, for tests of its resources. */
final class SampleSources {
    private SampleSources() {}

    static final HealthSource HEALTHY = new HealthSource() {
        @Override
        public String notLive() {
            return null;
        }

        @Override
        public String notReady() {
            return null;
        }
    };

    static final ConfigControl CONFIG = new ConfigControl() {
        private static final Problem PROBLEM = new Problem("f", 1, 1, "p", "m", null, "t");

        @Override
        public CheckReport check(Path file) {
            return new CheckReport(List.of(PROBLEM));
        }

        @Override
        public CompletionStage<ReloadReport> reload(AdminCaller caller) {
            return CompletableFuture.completedFuture(new ReloadReport(
                    false, List.of(new ConfigControl.Setting("k", Result.REJECTED, "d")), List.of(PROBLEM)));
        }
    };

    static final ConfigChanger CHANGER = new ConfigChanger() {
        @Override
        public CompletionStage<ConfigControl.ReloadReport> plan(Path file) {
            return CONFIG.reload();
        }

        @Override
        public CompletionStage<ConfigControl.ReloadReport> set(
                Map<String, String> settings, boolean save, AdminCaller caller) {
            return CONFIG.reload();
        }

        @Override
        public CompletionStage<ConfigControl.ReloadReport> reset(List<String> keys, AdminCaller caller) {
            return CONFIG.reload();
        }

        @Override
        public CompletionStage<ConfigControl.ReloadReport> rollback(int entry, AdminCaller caller) {
            return CONFIG.reload();
        }
    };

    static final ConfigInspector INSPECTOR = new ConfigInspector() {
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

    static final CertificatesSource CERTIFICATES = new CertificatesSource() {
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

    static final StorageControl STORAGE = new StorageControl() {
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

    static final HostControl HOSTS = new HostControl() {
        @Override
        public CompletionStage<Report> report(@Nullable String host) {
            return CompletableFuture.completedFuture(new Report(
                    1,
                    List.of(new Origin("http://a.example", "a.example", true, 2, 3, "dns", 4, "1.1", 5, 6)),
                    List.of(
                            new Name("a.example", 7, null, List.of(new Address("192.0.2.1", 8))),
                            new Name("b.example", 9, "no such name", List.of())),
                    0));
        }

        @Override
        public CompletionStage<Cleared> clear(@Nullable String host) {
            return CompletableFuture.completedFuture(new Cleared(1, 2));
        }
    };

    static final OriginControl ORIGINS = new OriginControl() {
        @Override
        public List<EmptyGroup> emptyGroups() {
            return List.of(new EmptyGroup("g", "strict", "parent"));
        }

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

    static final FleetSource FLEET = new FleetSource() {
        @Override
        public FleetSource.Status status() {
            FleetSource.Node node = new FleetSource.Node("n", "edge", "1", "live", 1, 0, 0, List.of("3"), 4);
            return new FleetSource.Status("f", "n", "edge", "connected", "", "validate", "t", 1, 1, 0, List.of(node));
        }

        @Override
        public Spread spread(String purgeId) {
            return new Spread(true, 1, "", List.of("n"), Map.of("m", "r"), Map.of("o", 7L));
        }
    };

    static final FleetConfigSource FLEET_CONFIG = new FleetConfigSource() {
        @Override
        public FleetConfigSource.Status status() {
            FleetConfigSource.Node node = new FleetConfigSource.Node("n", "edge", "live", 1, 2, "applied", "");
            return new FleetConfigSource.Status(
                    "f",
                    "n",
                    "on",
                    "",
                    1,
                    2,
                    4,
                    "canary",
                    "c",
                    1,
                    "d",
                    List.of("n"),
                    List.of("errors<1"),
                    60,
                    0,
                    "",
                    List.of(node));
        }

        @Override
        public List<Revision> history() {
            return List.of(new Revision(1, "t", "b", 9, "c", 0, List.of("n"), "e", true));
        }

        @Override
        public long part(String content, int part, byte[] bytes) {
            return bytes.length;
        }

        @Override
        public CompletionStage<PushReport> push(Push push) {
            return CompletableFuture.completedFuture(new PushReport(true, 2, "canary", List.of("p")));
        }
    };

    static final VendorPurges VENDORS = new VendorPurges(
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
                public List<Owner> owners(String url, boolean isWholeHost) {
                    return List.of(new Owner("h", url, null));
                }
            });

    static final List<AdminResource> FASTLY = FastlyResource.all(VENDORS);
    static final List<AdminResource> CLOUDFLARE = CloudflareResource.all(VENDORS);

    static final PurgeView PURGE = new PurgeView(
            PurgeRecord.done("s1", 1, new PurgeClient("admin", 1, "t", "a"), "tag", "t", "s", true)
                    .counted(2, 3),
            4,
            new Count(2, 3, List.of("http://h/"), true, 5, 6, true, "n"),
            "done");

    static final EventSource EVENTS = (since, after, kinds, limit) ->
            List.of(new EventSource.Numbered(1, new Event(1, EventKind.PURGE, "s", "t")));

    static final HistorySource HISTORY = new HistorySource() {
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

    static final PurgeControl PURGES = new PurgeControl() {
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

    static final CopySource COPIES = new CopySource() {
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

    static final CopyTarget COPY_TARGET = new CopyTarget() {
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
}
