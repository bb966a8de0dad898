package io.millrace.proxy;

import io.millrace.proxy.observe.Counter;
import java.io.IOException;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the settings that mark an origin without a group down. */
class LiveDeadOriginTest {
    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private String stored = "";

    /** Starts a proxy with a stale response of an origin that accepts no connections any more. */
    private LiveProxy dead(String markdown) throws IOException {
        RawOrigin origin = live.origin(request -> request.ok("Cache-Control: max-age=1\r\n", RawInput.latin1("old")));
        live.file("origin: {markdown: {%s}}\nremap: [{map: /, to: '%s'}]".formatted(markdown, origin.url()))
                .start();
        stored = live.fresh();
        live.get(stored);
        origin.close();
        live.proxy().advanceSeconds(60);
        return live;
    }

    private boolean isStaleWithoutARequest() throws IOException {
        live.get(live.fresh());
        live.get(live.fresh());
        return live.get(stored).field("cache-status").contains("origin-down");
    }

    /** Marks the origin down, and returns the number of attempts in the background after the last of some waits. */
    private long attemptsAfter(int... seconds) throws IOException {
        live.proxy().proxy().shared().hosts().clear(null);
        live.get(live.fresh());
        long before = 0;
        for (int wait : seconds) {
            live.proxy().advanceSeconds(wait);
            before = live.proxy().counted(Counter.ORIGIN_REQUESTS_VALIDATION);
            live.get(stored);
        }
        return live.proxy().counted(Counter.ORIGIN_REQUESTS_VALIDATION) - before;
    }

    @LiveKey("origin.markdown.fail_threshold")
    void failThreshold() throws Exception {
        dead("fail_threshold: <0|2>").turns(false, true, this::isStaleWithoutARequest);
    }

    @LiveKey("origin.markdown.retry_time")
    void retryTime() throws Exception {
        dead("fail_threshold: 1, retry_time: <1h|1s>, retry_time_max: 2h").turns(0L, 1L, () -> attemptsAfter(10));
    }

    @LiveKey("origin.markdown.retry_time_max")
    void retryTimeMax() throws Exception {
        dead("fail_threshold: 1, retry_time: 10s, retry_time_max: <1h|10s>")
                .turns(0L, 1L, () -> attemptsAfter(12, 24, 20));
    }
}
