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
 * Benchmark of finding the {@code map} rule of a URL in a table with rules of several kinds. The table also contains
 * rules by regular expression, rules by received port, and redirects. Of each of these kinds it has as many rules as
 * {@code map} rules, but at most a thousand.
 */
@State(Scope.Thread)
@BenchmarkMode(Mode.AverageTime)
@OutputTimeUnit(TimeUnit.NANOSECONDS)
public class RemapKindsBenchmark {
    private static final int PATHS = 10;
    private static final int EXPRESSIONS_MAX = 1000;
    private static final int URLS = 1 << 10;

    /** Number of {@code map} rules. */
    @Param({"10", "1000", "100000"})
    public int rules;

    /**
     * Number of rules, spread over the table, that the requested URLs match. Few rules stay in the processor's caches,
     * many do not.
     */
    @Param({"10", "1000"})
    public int drawn;

    private RemapTable table = table(0);
    private final TargetUri[] urls = new TargetUri[URLS];
    private int next;

    /** Loads a configuration with this many rules and draws URLs that they match. */
    @Setup(Level.Trial)
    public void load() {
        table = table(rules);
        Random random = new Random(7);
        for (int i = 0; i < URLS; i++) {
            urls[i] = (TargetUri) TargetUri.parseAbsolute(
                    from((int) (random.nextInt(drawn) * (long) rules / drawn)) + "assets/site.css?v=12");
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
        for (int i = 0; i < Math.min(rules, EXPRESSIONS_MAX); i++) {
            text.append("  - regex_map: http://shard")
                    .append(i)
                    .append("-([a-z]+).example.org/\n")
                    .append("    to: http://127.0.0.1:9000/$1/\n")
                    .append("  - redirect: http://old")
                    .append(i)
                    .append(".example.com/\n")
                    .append("    to: http://www")
                    .append(i)
                    .append(".example.com/\n")
                    .append("  - map_with_recv_port: http://port")
                    .append(i)
                    .append(".example.com:8080/\n")
                    .append("    to: http://127.0.0.1:9000/\n");
        }
        ConfigResult result = ConfigLoader.parse(text.toString(), "benchmark", Map.of());
        return RemapTable.of(Objects.requireNonNull(result.config(), result::text));
    }

    private static String from(int rule) {
        return "http://www" + rule / PATHS + ".example.com/section" + rule % PATHS + "/";
    }

    /** Finds the remap rule of a URL that was received on port 80. */
    @Benchmark
    public Mapped match() {
        return (Mapped) table.match(urls[next++ & (URLS - 1)], 80);
    }
}
