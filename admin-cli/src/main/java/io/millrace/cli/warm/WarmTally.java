package io.millrace.cli.warm;

import io.millrace.cli.client.JsonObject;
import io.millrace.cli.client.JsonTree;
import io.millrace.cli.warm.WarmResult.Effect;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.EnumMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** Counts of results, with a bounded number of reasons. Thread-safe. */
public final class WarmTally {
    /** Limit of different reasons of one effect; further ones are counted together. */
    private static final int REASONS_MAX = 20;

    private static final String OTHERS = "others";

    private final Map<Effect, Long> counts = new EnumMap<>(Effect.class);
    private final Map<Effect, Map<String, Long>> reasons = new EnumMap<>(Effect.class);
    private long bytes;

    /**
     * The number of results with a reason. Immutable.
     *
     * @param effect name of the effect in JSON
     */
    public record Reason(String effect, String text, long count) {}

    synchronized void add(WarmResult result, long length) {
        add(result.effect(), result.reason(), 1);
        bytes += length;
    }

    private void add(Effect effect, String reason, long count) {
        counts.merge(effect, count, Long::sum);
        addReason(effect, reason, count);
    }

    private void addReason(Effect effect, String reason, long count) {
        if (reason.isEmpty()) {
            return;
        }
        Map<String, Long> known = reasons.computeIfAbsent(effect, any -> new LinkedHashMap<>());
        String text = known.containsKey(reason) || known.size() < REASONS_MAX ? reason : OTHERS;
        known.merge(text, count, Long::sum);
    }

    synchronized long of(Effect effect) {
        return counts.getOrDefault(effect, 0L);
    }

    /** Number of results. */
    public synchronized long total() {
        long total = 0;
        for (long count : counts.values()) {
            total += count;
        }
        return total;
    }

    /** Number of requests that the proxy answered for one of its sites, errors included. */
    public synchronized long asked() {
        return total() - of(Effect.NOT_SERVED);
    }

    /** Number of responses that were fresh before the run. */
    public synchronized long fresh() {
        return of(Effect.FRESH);
    }

    /** Number of responses that are fresh after the run. */
    public synchronized long freshNow() {
        return of(Effect.FRESH) + of(Effect.STORED) + of(Effect.REVALIDATED);
    }

    /** Number of requests without a complete response, or with a status of 500 or above. */
    public synchronized long failures() {
        long failures = 0;
        for (Map.Entry<String, Long> each :
                reasons.getOrDefault(Effect.ERROR, Map.of()).entrySet()) {
            failures += each.getKey().startsWith("4") ? 0 : each.getValue();
        }
        return failures;
    }

    /** Bytes of content that were received. */
    public synchronized long bytes() {
        return bytes;
    }

    /** Returns a line for each effect that occurred: its text, its name in JSON and its count. */
    public synchronized List<Reason> effects() {
        List<Reason> effects = new ArrayList<>();
        for (Map.Entry<Effect, Long> each : counts.entrySet()) {
            effects.add(new Reason(each.getKey().word(), each.getKey().text(), each.getValue()));
        }
        return effects;
    }

    /** Returns the reasons, grouped by effect, most frequent first. */
    public synchronized List<Reason> reasons() {
        List<Reason> all = new ArrayList<>();
        for (Map.Entry<Effect, Map<String, Long>> each : reasons.entrySet()) {
            List<Reason> some = new ArrayList<>();
            each.getValue()
                    .forEach((text, count) -> some.add(new Reason(each.getKey().word(), text, count)));
            some.sort(Comparator.comparingLong(reason -> -reason.count()));
            all.addAll(some);
        }
        return all;
    }

    /** Writes the counts as members of an object. */
    public synchronized void write(JsonTree json) {
        for (Effect effect : Effect.values()) {
            json.number(effect.word(), of(effect));
        }
        json.number("bytes", bytes);
        json.all("reasons", reasons(), (one, reason) -> one.text("result", reason.effect())
                .text("reason", reason.text())
                .number("count", reason.count()));
    }

    /** Adds the counts that {@link #write} wrote. */
    synchronized void read(JsonObject json) {
        for (Effect effect : Effect.values()) {
            long count = json.number(effect.word(), 0);
            if (count > 0) {
                counts.merge(effect, count, Long::sum);
            }
        }
        bytes += json.number("bytes", 0);
        for (JsonObject reason : json.objects("reasons")) {
            for (Effect effect : Effect.values()) {
                if (effect.word().equals(reason.text("result"))) {
                    addReason(effect, reason.text("reason", ""), reason.number("count", 0));
                }
            }
        }
    }
}
