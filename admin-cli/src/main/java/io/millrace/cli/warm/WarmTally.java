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
import java.util.concurrent.locks.ReentrantLock;

/** Counts of the results of {@code millctl cache warm}, with a bounded number of reasons. Thread-safe. */
public final class WarmTally {
    /** Limit of different reasons of one effect; further reasons are counted together. */
    private static final int REASONS_MAX = 20;

    private static final String OTHERS = "others";
    /**
     * Reason under which results with a status of 400 to 499 are counted beyond the limit of reasons. {@link #OTHERS}
     * counts the rest. These statuses have their own reason, because {@link #failures} excludes them.
     */
    private static final String OTHERS_4XX = "4xx with other details";

    private final ReentrantLock lock = new ReentrantLock();
    private final Map<Effect, Long> counts = new EnumMap<>(Effect.class);
    private final Map<Effect, Map<String, Long>> reasons = new EnumMap<>(Effect.class);
    private long bytes;

    /**
     * The number of results with a reason. Immutable.
     *
     * @param effect name of the effect in JSON
     */
    public record Reason(String effect, String text, long count) {}

    void add(WarmResult result, long length) {
        lock.lock();
        try {
            add(result.effect(), result.reason(), 1);
            bytes += length;
        } finally {
            lock.unlock();
        }
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
        String others = is4xx(reason) ? OTHERS_4XX : OTHERS;
        String text = known.containsKey(reason) || known.size() < REASONS_MAX ? reason : others;
        known.merge(text, count, Long::sum);
    }

    long of(Effect effect) {
        lock.lock();
        try {
            return counts.getOrDefault(effect, 0L);
        } finally {
            lock.unlock();
        }
    }

    /** Number of results. */
    public long total() {
        lock.lock();
        try {
            long total = 0;
            for (long count : counts.values()) {
                total += count;
            }
            return total;
        } finally {
            lock.unlock();
        }
    }

    /** Number of results, errors included, except those for sites that the proxy does not serve. */
    public long siteTotal() {
        lock.lock();
        try {
            return total() - of(Effect.NOT_SERVED);
        } finally {
            lock.unlock();
        }
    }

    /** Number of responses that were fresh before the run. */
    public long freshBefore() {
        lock.lock();
        try {
            return of(Effect.FRESH);
        } finally {
            lock.unlock();
        }
    }

    /** Number of responses that are fresh after the run. */
    public long freshAfter() {
        lock.lock();
        try {
            return of(Effect.FRESH) + of(Effect.STORED) + of(Effect.REVALIDATED);
        } finally {
            lock.unlock();
        }
    }

    /** Number of requests without a complete response, or with a status of 500 or above. */
    public long failures() {
        lock.lock();
        try {
            long failures = 0;
            for (Map.Entry<String, Long> each :
                    reasons.getOrDefault(Effect.ERROR, Map.of()).entrySet()) {
                failures += is4xx(each.getKey()) ? 0 : each.getValue();
            }
            return failures;
        } finally {
            lock.unlock();
        }
    }

    private static boolean is4xx(String reason) {
        return reason.startsWith("4");
    }

    /** Bytes of content that were received. */
    public long bytes() {
        lock.lock();
        try {
            return bytes;
        } finally {
            lock.unlock();
        }
    }

    /** Returns each effect that occurred, with its text, its name in JSON and its count. */
    public List<Reason> effects() {
        lock.lock();
        try {
            List<Reason> effects = new ArrayList<>();
            for (Map.Entry<Effect, Long> each : counts.entrySet()) {
                effects.add(new Reason(each.getKey().word(), each.getKey().text(), each.getValue()));
            }
            return effects;
        } finally {
            lock.unlock();
        }
    }

    /** Returns the reasons, grouped by effect, most frequent first. */
    public List<Reason> reasons() {
        lock.lock();
        try {
            List<Reason> all = new ArrayList<>();
            for (Map.Entry<Effect, Map<String, Long>> each : reasons.entrySet()) {
                List<Reason> some = new ArrayList<>();
                each.getValue()
                        .forEach((text, count) ->
                                some.add(new Reason(each.getKey().word(), text, count)));
                some.sort(Comparator.comparingLong(reason -> -reason.count()));
                all.addAll(some);
            }
            return all;
        } finally {
            lock.unlock();
        }
    }

    /** Writes the counts as members of an object. */
    public void write(JsonTree json) {
        lock.lock();
        try {
            for (Effect effect : Effect.values()) {
                json.number(effect.word(), of(effect));
            }
            json.number("bytes", bytes);
            json.array("reasons", reasons(), (one, reason) -> one.text("result", reason.effect())
                    .text("reason", reason.text())
                    .number("count", reason.count()));
        } finally {
            lock.unlock();
        }
    }

    /** Adds the counts of an earlier run, in the format of {@link #write}. */
    void read(JsonObject json) {
        lock.lock();
        try {
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
        } finally {
            lock.unlock();
        }
    }
}
