package io.millrace.acme;

import io.millrace.proxy.acme.AcmeFiles;
import io.millrace.proxy.acme.AcmeRecord;
import java.io.IOException;
import java.nio.file.Files;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * Records of all names, and what is to be done with them next. Times are in seconds since 1970.
 *
 * <p>Confined to the ACME thread.
 */
final class NameSchedule {
    /** Files of a certificate are deleted this long after its end. */
    private static final long FORGOTTEN_SECONDS = Duration.ofDays(30).toSeconds();

    private final Map<String, AcmeRecord> records = new HashMap<>();
    private final Map<String, Long> adviceSeconds = new HashMap<>();
    private final Map<String, Long> pausedUntil = new HashMap<>();
    private final Set<String> running = new HashSet<>();

    /** Replaces everything by what a storage has. A certificate whose file was deleted counts as none. Blocks. */
    void load(AcmeFiles files) throws IOException {
        List<AcmeRecord> all = AcmeRecord.all(files);
        records.clear();
        adviceSeconds.clear();
        pausedUntil.clear();
        for (AcmeRecord record : all) {
            String name = record.name();
            boolean lost = Files.notExists(files.certificates().resolve(AcmeFiles.fileName(name) + ".pem"));
            records.put(name, lost && record.expirySeconds() > 0 ? AcmeRecord.of(name) : record);
        }
    }

    /** The record of a name. */
    AcmeRecord record(String name) {
        return records.getOrDefault(name, AcmeRecord.of(name));
    }

    /** Replaces a record; renewal advice for the previous certificate does not apply to the next one. */
    void put(AcmeRecord record) {
        records.put(record.name(), record);
        adviceSeconds.remove(record.name());
    }

    /** Forgets a name. */
    void remove(String name) {
        records.remove(name);
        adviceSeconds.remove(name);
        pausedUntil.remove(name);
    }

    /** Whether a name has a certificate, also one that has ended. */
    boolean isHeld(String name) {
        return record(name).expirySeconds() > 0;
    }

    /** A task for a name begins. */
    void begin(String name) {
        running.add(name);
    }

    /** A task for a name has ended. */
    void end(String name) {
        running.remove(name);
    }

    /** Tasks that go on. */
    int runningCount() {
        return running.size();
    }

    /** Keeps a name from tasks until a time. */
    void pause(String name, long untilSeconds) {
        pausedUntil.put(name, untilSeconds);
    }

    /** Ends a pause. */
    void resume(String name) {
        pausedUntil.remove(name);
    }

    /** Whether no task goes on for a name, and no pause. */
    boolean isFree(String name, long nowSeconds) {
        return !running.contains(name) && pausedUntil.getOrDefault(name, 0L) <= nowSeconds;
    }

    /** The first names of a list whose order is due. */
    List<String> due(List<String> names, long nowSeconds, int max) {
        List<String> due = new ArrayList<>();
        for (String name : names) {
            if (due.size() < max && record(name).isDue(nowSeconds) && isFree(name, nowSeconds)) {
                due.add(name);
            }
        }
        return due;
    }

    /** Names with certificates on demand whose renewal is due. */
    List<String> dueOnDemand(List<String> configured, long nowSeconds) {
        return records.values().stream()
                .filter(record -> record.expirySeconds() + FORGOTTEN_SECONDS > nowSeconds && record.isDue(nowSeconds))
                .map(AcmeRecord::name)
                .filter(name -> isHeld(name) && isFree(name, nowSeconds) && !configured.contains(name))
                .toList();
    }

    /** When to ask the issuer about a certificate again. */
    void advised(String name, long askAgainSeconds) {
        adviceSeconds.put(name, askAgainSeconds);
    }

    /** A certificate whose issuer is to be asked for advice now; null for none. */
    @Nullable
    AcmeRecord unadvised(List<String> configured, boolean onDemand, long nowSeconds) {
        for (AcmeRecord record : records.values()) {
            if (record.expirySeconds() > nowSeconds
                    && adviceSeconds.getOrDefault(record.name(), 0L) <= nowSeconds
                    && (onDemand || configured.contains(record.name()))) {
                return record;
            }
        }
        return null;
    }

    /** A certificate that ended long ago and that is not configured; null for none. */
    @Nullable
    AcmeRecord forgotten(List<String> configured, long nowSeconds) {
        for (AcmeRecord record : records.values()) {
            long last = Math.max(record.expirySeconds(), record.changedSeconds());
            if (last + FORGOTTEN_SECONDS <= nowSeconds
                    && isFree(record.name(), nowSeconds)
                    && !configured.contains(record.name())) {
                return record;
            }
        }
        return null;
    }
}
