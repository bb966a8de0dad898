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
 * The schedule of the ACME client. It contains the records of all names and the times of their next tasks. Times are in
 * seconds since 1970.
 *
 * <p>Not thread-safe; confined to the ACME thread.
 */
final class NameSchedule {
    /** Time from the expiry of a certificate to the deletion of its files. */
    private static final long RETAINED_SECONDS = Duration.ofDays(30).toSeconds();

    private final Map<String, AcmeRecord> records = new HashMap<>();
    /** Times of the next requests for renewal information (RFC 9773). */
    private final Map<String, Long> renewalInfoSeconds = new HashMap<>();

    /** Time at which the suspension of each suspended name ends. */
    private final Map<String, Long> pausedUntil = new HashMap<>();

    private final Set<String> running = new HashSet<>();

    /**
     * Replaces all records by those of a storage. A record without a certificate file is replaced by an empty one.
     * Blocks.
     */
    void load(AcmeFiles files) throws IOException {
        List<AcmeRecord> all = AcmeRecord.all(files);
        records.clear();
        renewalInfoSeconds.clear();
        pausedUntil.clear();
        for (AcmeRecord record : all) {
            String name = record.name();
            boolean lost = Files.notExists(files.certificates().resolve(AcmeFiles.fileName(name) + ".pem"));
            records.put(name, lost && record.expirySeconds() > 0 ? AcmeRecord.of(name) : record);
        }
    }

    /** Returns the record of a name, an empty one for an unknown name. */
    AcmeRecord record(String name) {
        return records.getOrDefault(name, AcmeRecord.of(name));
    }

    /** Adds or replaces a record. The renewal information of its certificate is due at once. */
    void put(AcmeRecord record) {
        records.put(record.name(), record);
        renewalInfoSeconds.remove(record.name());
    }

    /** Removes a name and its state. */
    void remove(String name) {
        records.remove(name);
        renewalInfoSeconds.remove(name);
        pausedUntil.remove(name);
    }

    /** Returns true if a name has a certificate, valid or expired. */
    boolean hasCertificate(String name) {
        return record(name).expirySeconds() > 0;
    }

    /** Marks a name as having a task in progress. */
    void begin(String name) {
        running.add(name);
    }

    /** Marks a name as having no task in progress. */
    void end(String name) {
        running.remove(name);
    }

    /** Number of tasks in progress. */
    int runningCount() {
        return running.size();
    }

    /** Suspends the tasks of a name until {@code untilSeconds}. */
    void pause(String name, long untilSeconds) {
        pausedUntil.put(name, untilSeconds);
    }

    /** Ends the suspension of a name. */
    void resume(String name) {
        pausedUntil.remove(name);
    }

    /** Returns true if a name has no task in progress and is not suspended. */
    boolean isFree(String name, long nowSeconds) {
        return !running.contains(name) && pausedUntil.getOrDefault(name, 0L) <= nowSeconds;
    }

    /** Returns names for which a certificate is to be ordered now, at most {@code max}. */
    List<String> due(List<String> names, long nowSeconds, int max) {
        List<String> due = new ArrayList<>();
        for (String name : names) {
            if (due.size() < max && record(name).isDue(nowSeconds) && isFree(name, nowSeconds)) {
                due.add(name);
            }
        }
        return due;
    }

    /** Returns the names of on-demand certificates whose renewal is due. */
    List<String> dueOnDemand(List<String> configured, long nowSeconds) {
        return records.values().stream()
                .filter(record -> record.expirySeconds() + RETAINED_SECONDS > nowSeconds && record.isDue(nowSeconds))
                .map(AcmeRecord::name)
                .filter(name -> hasCertificate(name) && isFree(name, nowSeconds) && !configured.contains(name))
                .toList();
    }

    /** Sets the time of the next request for renewal information to the issuer. */
    void setRenewalInfoDue(String name, long askAgainSeconds) {
        renewalInfoSeconds.put(name, askAgainSeconds);
    }

    /**
     * Returns a certificate whose renewal information is to be requested now; null for none. {@code onDemand} includes
     * certificates of names that are not configured.
     */
    @Nullable
    AcmeRecord withDueRenewalInfo(List<String> configured, boolean onDemand, long nowSeconds) {
        for (AcmeRecord record : records.values()) {
            if (record.expirySeconds() > nowSeconds
                    && renewalInfoSeconds.getOrDefault(record.name(), 0L) <= nowSeconds
                    && (onDemand || configured.contains(record.name()))) {
                return record;
            }
        }
        return null;
    }

    /**
     * Returns a certificate that expired long ago and is not configured. Its files are to be deleted. Returns null for
     * none.
     */
    @Nullable
    AcmeRecord obsolete(List<String> configured, long nowSeconds) {
        for (AcmeRecord record : records.values()) {
            long last = Math.max(record.expirySeconds(), record.changedSeconds());
            if (last + RETAINED_SECONDS <= nowSeconds
                    && isFree(record.name(), nowSeconds)
                    && !configured.contains(record.name())) {
                return record;
            }
        }
        return null;
    }
}
