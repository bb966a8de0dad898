package io.millrace.proxy;

import com.sun.management.OperatingSystemMXBean;
import io.millrace.proxy.overload.Overload;
import io.millrace.proxy.overload.OverloadGauge;
import io.netty.channel.EventLoop;
import java.io.IOException;
import java.lang.management.ManagementFactory;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Tests live changes of the settings of overload, while an origin is overloaded. */
class LiveOverloadTest {
    /** Rounds of requests and windows. An overload takes two, or more if the proxy's own window ends in between. */
    private static final int ROUNDS = 10;

    private static final int ROUNDS_MAX = 1000;

    /** So many processors that their time is never used up, as a window of a few milliseconds might suggest. */
    private static final int PROCESSORS = 100;

    @RegisterExtension
    final LiveProxy live = new LiveProxy();

    private final OperatingSystemMXBean system = ManagementFactory.getPlatformMXBean(OperatingSystemMXBean.class);
    private volatile boolean ill;

    /**
     * Returns an origin whose responses under /ill take two milliseconds, and are errors while it is ill. Other
     * responses are fresh for 10 s.
     */
    private LiveProxy origin(String settings) {
        return live.script(request -> {
                    if (request.has("GET /ill")) {
                        long begun = System.nanoTime();
                        while (System.nanoTime() - begun < 2_000_000) {
                            Thread.onSpinWait();
                        }
                        request.send("HTTP/1.1 " + (ill ? "503" : "200")
                                + " x\r\nCache-Control: no-store\r\nContent-Length: 0\r\n\r\n");
                    } else {
                        boolean lasting = !request.has("GET /brief");
                        request.ok("Cache-Control: max-age=" + (lasting ? 10 : 0) + "\r\n", new byte[0]);
                    }
                })
                .file("cache: {overload: {" + settings + "}}");
    }

    private Overload overload() {
        return live.proxy().proxy().shared().overload();
    }

    private boolean isOver() {
        OverloadGauge gauge = overload().of(0);
        return gauge != null && gauge.isInOverload();
    }

    /** Ends a window of the gauges, as the proxy itself does each second. */
    private void endWindow(long secondsAhead) {
        EventLoop loop = live.proxy().proxy().loops().get(0).loop();
        loop.submit(() -> overload()
                        .evaluate(
                                loop.ticker().nanoTime() + TimeUnit.SECONDS.toNanos(secondsAhead),
                                system::getProcessCpuTime,
                                PROCESSORS))
                .awaitUninterruptibly();
    }

    /** Returns whether an overload begins when objects that are not stored are requested repeatedly. */
    private boolean overloads(boolean byErrors) throws IOException {
        return overloads(byErrors, live.isChanged() ? ROUNDS_MAX : ROUNDS);
    }

    private boolean overloads(boolean byErrors, int rounds) throws IOException {
        ill = byErrors;
        for (int round = 0; round < rounds && !isOver(); round++) {
            useProcessor();
            for (int i = 0; i < 3; i++) {
                live.proxy().get("/ill");
            }
            endWindow(0);
        }
        ill = false;
        return isOver();
    }

    /** Uses the processor until the operating system reports the time. */
    private void useProcessor() {
        long before = system.getProcessCpuTime();
        while (system.getProcessCpuTime() == before) {
            Thread.onSpinWait();
        }
    }

    /** Returns whether a response that has been stale for so long is used in overload. */
    private boolean serves(String path, int seconds) throws IOException {
        String fresh = path + live.fresh();
        live.get(fresh);
        live.proxy().advanceSeconds(seconds);
        if (!overloads(true, ROUNDS_MAX)) {
            throw new AssertionError("no overload");
        }
        return live.fetchesOf(1, fresh) == 0;
    }

    @LiveKey("cache.overload.latency")
    void latency() throws Exception {
        origin("latency: <10m|1ms>").turns(false, true, () -> overloads(false));
    }

    @LiveKey("cache.overload.errors")
    void errors() throws Exception {
        origin("errors: <100%|10%>").turns(false, true, () -> overloads(true));
    }

    @LiveKey("cache.overload.cpu")
    void cpu() throws Exception {
        origin("cpu: <100%|0.01%>").turns(false, true, () -> overloads(false));
    }

    @LiveKey("cache.overload.micro_lifetime")
    void microLifetime() throws Exception {
        origin("errors: 10%, micro_lifetime: <1s|1m>").turns(false, true, () -> serves("/brief", 5));
    }

    @LiveKey("cache.overload.stretch")
    void stretch() throws Exception {
        origin("errors: 10%, micro_lifetime: 0s, stretch: <1.1|5>").turns(false, true, () -> serves("/old", 15));
    }

    @LiveKey("cache.overload.stretch_max")
    void stretchMax() throws Exception {
        origin("errors: 10%, micro_lifetime: 0s, stretch: 5, stretch_max: <1s|1h>")
                .turns(false, true, () -> serves("/old", 15));
    }

    /** For a minute no value is above its limit. */
    @LiveKey("cache.overload.hold")
    void hold() throws Exception {
        origin("errors: 10%, hold: <1h|1s>").turns(true, false, () -> {
            overloads(true, ROUNDS_MAX);
            endWindow(60);
            return isOver();
        });
    }
}
