package io.millrace.wasm;

import io.millrace.proxy.spi.ExtensionConfig;
import io.millrace.proxy.spi.ExtensionContext;
import io.millrace.proxy.spi.ExtensionCounter;
import io.millrace.wasm.callout.CalloutSettings;
import java.nio.file.Path;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.LongAdder;

/** Objects of the extension without a proxy. */
final class Canned {
    private Canned() {}

    /** The context of an extension with counters only. Thread-safe. */
    static final class Context implements ExtensionContext {
        final Map<String, LongAdder> counters = new ConcurrentHashMap<>();

        @Override
        public String name() {
            return "filter";
        }

        @Override
        public ExtensionConfig config() {
            throw new IllegalStateException("no configuration");
        }

        @Override
        public ExtensionCounter counter(String name) {
            LongAdder sum = counters.computeIfAbsent(name, key -> new LongAdder());
            return sum::add;
        }

        @Override
        public System.Logger log() {
            return System.getLogger("io.millrace.extension.filter");
        }

        @Override
        public ScheduledExecutorService executor() {
            throw new IllegalStateException("no threads");
        }
    }

    private static final CalloutSettings CALLOUTS = new CalloutSettings(Map.of(), 1_000_000_000L, 1 << 20);

    static WasmSettings settings(boolean isCompiled) {
        return new WasmSettings(
                Path.of("filter.wasm"), 256, 50_000_000L, 1, isCompiled, 100_000, "blue", "", "root", 0, CALLOUTS, 0);
    }

    static Shared shared() {
        return Shared.of(new Context(), settings(false));
    }
}
