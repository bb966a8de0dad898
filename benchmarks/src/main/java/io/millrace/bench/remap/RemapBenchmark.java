package io.millrace.bench.remap;

import io.millrace.proxy.config.yaml.ConfigLoader;
import io.millrace.proxy.config.yaml.ConfigResult;
import io.millrace.proxy.http.TargetUri;
import io.millrace.proxy.remap.Mapped;
import io.millrace.proxy.remap.RemapTable;
import java.util.Map;
import java.util.Objects;
import java.util.Random;
import java.util.concurrent.TimeUnit;
import org.openjdk.jmh.annotations.Benchmark;
import org.openjdk.jmh.annotations.BenchmarkMode;
import org.openjdk.jmh.annotations.Level;
import org.openjdk.jmh.annotations.Mode;
import org.openjdk.jmh.annotations.OutputTimeUnit;
import org.openjdk.jmh.annotations.Param;
import org.openjdk.jmh.annotations.Scope;
import org.openjdk.jmh.annotations.Setup;
import org.openjdk.jmh.annotations.State;

/**
 * Benchmark of finding the remap rule and the cache key of a URL, in small and large tables. Each host has ten rules
 * that differ by path.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RemapBenchmark {
    private static final int PATHS = 10;
    private static final int URLS = 1 << 10;

    /** Number of rules. */
    @Param({"10", "1000", "100000"})
    public int rules;

    private RemapTable table = table(0);
    private final TargetUri[] urls = new TargetUri[URLS];
    private int next;

    /** Loads a configuration with this many rules and draws URLs that they match. */
    @Setup(Level.Trial)
    public void load() {
        table = table(rules);
        Random random = new Random(7);
        for (int i = 0; i < URLS; i++) {
            urls[i] = (TargetUri) TargetUri.parseAbsolute(from(random.nextInt(rules)) + "assets/site.css?v=12");
        }
    }

    private static RemapTable table(int rules) {
        StringBuilder text =
                new StringBuilder("listen: [\"127.0.0.1:0\"]\nremap:\n  - {map: /, to: \"http://127.0.0.1\"}\n");
        for (int i = 0; i < rules; i++) {
            text.append("  - map: ")
                    .append(from(i))
                    .append("\n    to: http://127.0.0.1:9000/")
                    .append(i)
                    .append("/\n");
        }
        ConfigResult result = ConfigLoader.parse(text.toString(), "benchmark", Map.of());
        return RemapTable.of(Objects.requireNonNull(result.config(), result::text));
    }

    private static String from(int rule) {
        return "http://www" + rule / PATHS + ".example.com/section" + rule % PATHS + "/";
    }

    /** Finds the remap rule of a URL. */
    @Benchmark
    public Mapped match() {
        return (Mapped) table.match(urls[next++ & (URLS - 1)]);
    }

    /** Finds the remap rule of a URL and computes its cache key. */
    @Benchmark
    public byte[] matchAndKey() {
        TargetUri url = urls[next++ & (URLS - 1)];
        return ((Mapped) table.match(url)).key(url).bytes();
    }
}
