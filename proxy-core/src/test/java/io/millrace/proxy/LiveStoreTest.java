package io.millrace.proxy;

import io.millrace.proxy.admin.cache.LookupSource;
import io.millrace.proxy.admin.data.CacheInspection;
import io.millrace.store.StoreStatistics;
import java.nio.file.Path;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.api.io.TempDir;

/** Tests live changes of the store's settings. */
class LiveStoreTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    @TempDir
    Path directory;

    private LiveProxy onDisk(String settings) {
        return live.in(directory).file("storage: [{path: disk, size: 64MiB}]\n" + settings);
    }

    /** Returns the inspector's report about a response that has just been stored. */
    private LookupSource.LookupReport stored() throws Exception {
        String path = live.fresh();
        live.get(path);
        live.proxy().proxy().store().sync();
        return new CacheInspection(new ServerView(live.proxy().proxy()))
                .lookup("http://test.example" + path, List.of())
                .toCompletableFuture()
                .get();
    }

    private long bytesScrubbed() {
        return live.proxy().proxy().store().statistics().counters().bytesScrubbed();
    }

    /** The scrubber verifies full segments. */
    @LiveKey("store.scrub_rate")
    void scrubRate() throws Exception {
        live.script(request -> request.ok("Cache-Control: max-age=60\r\n", ProxyExtension.content(1 << 20)));
        onDisk("store: {segment_size: 4MiB, scrub_rate: <0|64MiB>}").turns(false, true, () -> {
            for (int i = 0; i < 6; i++) {
                stored();
            }
            if (live.isChanged()) {
                ProxyExtension.await("something is verified", () -> bytesScrubbed() > 0);
            }
            return bytesScrubbed() > 0;
        });
    }

    /** A full tier of responses that are requested often does not keep new ones, unless it keeps all. */
    @LiveKey("cache.ram_admission")
    void ramAdmission() throws Exception {
        live.script(request -> request.ok("Cache-Control: max-age=60\r\n", ProxyExtension.content(50_000)));
        live.file("cache: {ram_size: 1MiB, ram_admission: <frequency|always>}").turns(true, false, () -> {
            boolean twice = false;
            // The policy counts requests on another thread, so the first new responses may be kept.
            for (int i = 0; i < (live.isChanged() ? 10 : 200) && !twice; i++) {
                for (int often = 0; often < 25 && !live.isChanged(); often++) {
                    live.get("/often/" + often);
                }
                twice = live.isFetchedTwice(live.fresh());
            }
            return twice;
        });
    }

    @LiveKey("cache.curve")
    void curve() throws Exception {
        live.script(request -> request.ok("Cache-Control: max-age=60\r\n", ProxyExtension.content(100)));
        onDisk("cache: {curve: <false|true>}").turns(false, true, () -> {
            live.get(live.fresh());
            return live.proxy().proxy().store().curve() != null;
        });
    }

    @LiveKey("cache.object_share_max")
    void objectShareMax() throws Exception {
        live.script(request -> request.ok("Cache-Control: max-age=60\r\n", ProxyExtension.content(2 << 20)));
        onDisk("cache: {object_share_max: <25%|1%>}").turns(false, true, () -> live.isFetchedTwice(live.fresh()));
    }

    @LiveKey("cache.volume")
    void volume() throws Exception {
        onDisk("""
                        volumes: [{name: one, share: 50%}]
                        cache: {volume: <default|one>}
                        """).turns(Set.of("default"), Set.of("default", "one"), () -> {
            stored();
            return live.proxy().proxy().store().statistics().volumes().stream()
                    .filter(volume -> volume.entries() > 0)
                    .map(StoreStatistics.Volume::name)
                    .collect(Collectors.toSet());
        });
    }

    @LiveKey("cache_rules[].pin_in_cache")
    void pinInCache() throws Exception {
        onDisk("cache_rules: [{prefix: /, pin_in_cache: <1h|2h>}]")
                .turns("2026-01-01T01:00:00Z", "2026-01-01T02:00:00Z", () -> stored().reason()
                        .replaceFirst(".*pinned until ([^ ,;]*).*", "$1"));
    }
}
