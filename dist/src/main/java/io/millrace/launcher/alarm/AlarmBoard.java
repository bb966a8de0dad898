package io.millrace.launcher.alarm;

import io.millrace.proxy.observe.MetricFamily;
import io.millrace.proxy.observe.alarm.Alarm;
import io.millrace.proxy.observe.alarm.AlarmKind;
import io.millrace.proxy.observe.alarm.AlarmSource;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.concurrent.locks.Lock;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * The list of raised alarms. {@link #update} compares it with the conditions that hold now. An alarm is raised at once,
 * and cleared after {@value #ABSENCES} successive updates without its condition, so that a condition that comes and
 * goes causes fewer changes. Thread-safe.
 */
final class AlarmBoard implements AlarmSource {
    /** Number of successive updates without the condition after which an alarm is cleared. */
    static final int ABSENCES = 2;

    private final Lock lock = new ReentrantLock();
    private final List<Entry> entries = new ArrayList<>();

    /** A raised alarm, with the number of successive updates in which its condition was absent. */
    private static final class Entry {
        private final boolean isOfLauncher;
        private Alarm alarm;
        private int absences;

        private Entry(Alarm alarm, boolean isOfLauncher) {
            this.alarm = alarm;
            this.isOfLauncher = isOfLauncher;
        }
    }

    /**
     * Compares the alarms with the present conditions.
     *
     * @param ofLauncher conditions that the launcher detects
     * @param ofWorker conditions that the worker detects; null if no worker answered, so that the alarms of the worker
     *     remain unchanged
     * @return the changes since the last update
     */
    List<AlarmChange> update(List<Alarm> ofLauncher, @Nullable List<Alarm> ofWorker, long nowMillis) {
        List<AlarmChange> changes = new ArrayList<>();
        lock.lock();
        try {
            boolean knowsWorker = ofWorker != null;
            for (Entry entry : entries) {
                if (knowsWorker || entry.isOfLauncher) {
                    entry.absences++;
                }
            }
            ofLauncher.forEach(condition -> raiseOrUpdate(condition, true, nowMillis, changes));
            if (ofWorker != null) {
                ofWorker.forEach(condition -> raiseOrUpdate(condition, false, nowMillis, changes));
            }
            entries.removeIf(entry -> {
                boolean isCleared = entry.absences >= ABSENCES;
                if (isCleared) {
                    changes.add(new AlarmChange(entry.alarm, false, nowMillis));
                }
                return isCleared;
            });
            entries.sort(Comparator.comparing((Entry entry) -> entry.alarm.kind())
                    .thenComparing(entry -> entry.alarm.subject()));
        } finally {
            lock.unlock();
        }
        return changes;
    }

    private void raiseOrUpdate(Alarm condition, boolean isOfLauncher, long nowMillis, List<AlarmChange> changes) {
        for (Entry entry : entries) {
            if (entry.alarm.isSameAs(condition)) {
                entry.absences = 0;
                entry.alarm = condition.since(entry.alarm.sinceMillis());
                return;
            }
        }
        Alarm raised = condition.since(nowMillis);
        entries.add(new Entry(raised, isOfLauncher));
        changes.add(new AlarmChange(raised, true, nowMillis));
    }

    @Override
    public List<Alarm> alarms() {
        lock.lock();
        try {
            return entries.stream().map(entry -> entry.alarm).toList();
        } finally {
            lock.unlock();
        }
    }

    /** Returns the number of raised alarms of each kind, in the text format of Prometheus. */
    String prometheusText() {
        List<Alarm> raised = alarms();
        MetricFamily family = MetricFamily.ALARMS;
        String name = family.metricName();
        StringBuilder text = new StringBuilder();
        text.append("# HELP ").append(name).append(' ').append(family.description());
        text.append("\n# TYPE ").append(name).append(" gauge\n");
        for (AlarmKind kind : AlarmKind.values()) {
            long count = raised.stream().filter(alarm -> alarm.kind() == kind).count();
            text.append(name).append("{application=\"millrace\",kind=\"").append(kind.word());
            text.append("\"} ").append(count).append(".0\n");
        }
        return text.toString();
    }
}
