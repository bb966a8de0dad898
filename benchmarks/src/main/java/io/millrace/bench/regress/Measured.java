package io.millrace.bench.regress;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import org.openjdk.jmh.infra.BenchmarkParams;
import org.openjdk.jmh.results.Result;
import org.openjdk.jmh.results.RunResult;

/**
 * The measured result of one benchmark.
 *
 * @param name class and method, with the parameters in brackets: {@code RemapBenchmark.match[rules=1000]}
 * @param bytes bytes allocated per operation
 * @param nanos time per operation in nanoseconds
 * @param errorNanos half of the 99.9 % confidence interval of {@code nanos}; NaN for a single measurement
 */
record Measured(String name, double bytes, double nanos, double errorNanos) {
    private static final String ALLOCATION = "gc.alloc.rate.norm";

    /** Converts the results of JMH. Returns them sorted by name. */
    static Map<String, Measured> of(Collection<RunResult> results) {
        Map<String, Measured> all = new TreeMap<>();
        for (RunResult result : results) {
            Result<?> time = result.getPrimaryResult();
            Result<?> allocation = result.getSecondaryResults().get(ALLOCATION);
            double bytes = allocation == null ? 0 : allocation.getScore();
            Measured measured = new Measured(name(result.getParams()), bytes, time.getScore(), time.getScoreError());
            all.put(measured.name(), measured);
        }
        return all;
    }

    private static String name(BenchmarkParams params) {
        String path = params.getBenchmark();
        String name = path.substring(path.lastIndexOf('.', path.lastIndexOf('.') - 1) + 1);
        List<String> settings = new ArrayList<>();
        for (String key : params.getParamsKeys()) {
            settings.add(key + "=" + params.getParam(key));
        }
        return settings.isEmpty() ? name : name + settings.toString().replace(" ", "");
    }
}
