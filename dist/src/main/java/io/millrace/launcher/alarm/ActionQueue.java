package io.millrace.launcher.alarm;

import io.millrace.proxy.observe.MetricFamily;
import java.io.IOException;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Performs one action for each change of an alarm, one after the other, on a thread that exists only when needed. At
 * most {@value #WAITING_MAX} changes wait; further changes are dropped and counted. Thread-safe.
 */
final class ActionQueue implements AutoCloseable {
    /** Limit of waiting changes. A person would not read more; {@code millctl alarm list} shows the raised alarms. */
    static final int WAITING_MAX = 64;

    private static final Logger LOG = LoggerFactory.getLogger(ActionQueue.class);
    private static final long CLOSE_SECONDS = 2;

    /** An action. Blocks until it is done. */
    @FunctionalInterface
    interface Action {
        /** Performs the action for one change. */
        void perform(AlarmChange change) throws IOException, InterruptedException;
    }

    private final String name;
    private final Action action;
    private final ThreadPoolExecutor thread;
    private final LongAdder done = new LongAdder();
    private final LongAdder failed = new LongAdder();
    private final LongAdder dropped = new LongAdder();

    /** @param name name of the action in metric and configuration: {@code exec} or {@code syslog} */
    ActionQueue(String name, Action action) {
        this.name = name;
        this.action = action;
        thread = new ThreadPoolExecutor(1, 1, 10, TimeUnit.SECONDS, new ArrayBlockingQueue<>(WAITING_MAX), task -> {
            Thread created = new Thread(task, "launcher-alarm-" + name);
            created.setDaemon(true);
            return created;
        });
        thread.allowCoreThreadTimeOut(true);
    }

    /** Adds a change. Does not block. */
    void add(AlarmChange change) {
        try {
            thread.execute(() -> perform(change));
        } catch (RejectedExecutionException e) {
            dropped.increment();
            LOG.warn(
                    "alarms.{}: {} {} is dropped, because {} changes of alarms wait",
                    name,
                    change.alarm().kind().word(),
                    change.state(),
                    WAITING_MAX);
        }
    }

    private void perform(AlarmChange change) {
        try {
            action.perform(change);
            done.increment();
        } catch (InterruptedException e) {
            dropped.increment();
            Thread.currentThread().interrupt();
        } catch (IOException | RuntimeException e) {
            failed.increment();
            LOG.warn(
                    "alarms.{}: {} {} ({}): {}",
                    name,
                    change.alarm().kind().word(),
                    change.state(),
                    change.alarm().subject(),
                    e.toString());
        }
    }

    /** Appends the lines of the metric {@code millrace_alarm_actions_total}. */
    void appendMetric(StringBuilder text) {
        append(text, "done", done);
        append(text, "failed", failed);
        append(text, "dropped", dropped);
    }

    private void append(StringBuilder text, String result, LongAdder count) {
        text.append(MetricFamily.ALARM_ACTIONS.metricName()).append("{application=\"millrace\",action=\"");
        text.append(name).append("\",result=\"").append(result).append("\"} ");
        text.append(count.sum()).append(".0\n");
    }

    /** Ends the running action, and drops those that wait. */
    @Override
    public void close() {
        dropped.add(thread.shutdownNow().size());
        try {
            if (!thread.awaitTermination(CLOSE_SECONDS, TimeUnit.SECONDS)) {
                LOG.debug("alarms.{}: the last action has not ended yet", name);
            }
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
