package io.millrace.launcher.process;

import io.millrace.worker.control.ControlMessage;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * One worker as the launcher sees it: its process, control connection and state. Not thread-safe; confined to the
 * supervisor's event loop.
 */
public final class WorkerProcess {
    /** Limit of a drain that this launcher did not order. It is the longest configurable drain timeout. */
    private static final long FOREIGN_DRAIN_NANOS = TimeUnit.HOURS.toNanos(24);

    /** Time after the drain deadline in which the worker must close its store and exit. */
    private static final long EXIT_GRACE_NANOS = TimeUnit.SECONDS.toNanos(5);

    private final long generation;
    private final ProcessHandle process;
    private final @Nullable WorkerPlan plan;
    private final HeartbeatWatch heartbeat;
    private WorkerState state = WorkerState.STARTING;
    private long readyDeadlineNanos;
    private long readyNanos;
    private long exitDeadlineNanos;
    private @Nullable Channel control;
    private ControlMessage.@Nullable Ready ready;
    private @Nullable String failure;
    private @Nullable String killReason;
    private boolean threadDumpRequested;
    private int protocolVersion = ControlMessage.PROTOCOL_VERSION;
    private final boolean warms;
    private boolean assigned;
    private boolean standsBy;
    private boolean serveSent;
    private WorkerStatus.@Nullable WarmUp warmUp;
    private boolean isClassArchiveDiscarded;
    private boolean hasStoppedAccepting;

    /**
     * @param plan the plan that the worker was started with; null for a worker that another launcher started and this
     *     one has taken over (an adopted worker)
     * @param warms whether the worker warms up before it reports standby: it could accept connections, but waits for
     *     the message {@code Serve}
     * @param readyDeadlineNanos time after which a worker that is still starting is treated as hung
     */
    public WorkerProcess(
            long generation,
            ProcessHandle process,
            @Nullable WorkerPlan plan,
            boolean warms,
            HeartbeatWatch heartbeat,
            long readyDeadlineNanos) {
        this.generation = generation;
        this.process = process;
        this.plan = plan;
        this.warms = warms;
        this.heartbeat = heartbeat;
        this.readyDeadlineNanos = readyDeadlineNanos;
    }

    /**
     * The number of the worker, which increases by one with every start. After the adoption of a worker, a launcher
     * continues with the next number.
     */
    public long generation() {
        return generation;
    }

    /** Process id. */
    public long pid() {
        return process.pid();
    }

    /** The process. */
    public ProcessHandle process() {
        return process;
    }

    /** The plan that the worker was started with; null for an adopted worker. */
    @Nullable
    public WorkerPlan plan() {
        return plan;
    }

    /** The watch of the worker's heartbeats. */
    public HeartbeatWatch heartbeat() {
        return heartbeat;
    }

    /** The state of the worker. */
    public WorkerState state() {
        return state;
    }

    private void enter(WorkerState next) {
        assert state.compareTo(next) <= 0 : state + " -> " + next;
        state = next;
    }

    /** Records the control connection that the worker has opened. */
    public void connected(Channel channel) {
        control = channel;
    }

    /** Returns true if the worker has opened its control connection. */
    public boolean hasConnected() {
        return control != null;
    }

    /** Sets the worker's version of the control protocol, which its {@code Hello} message contains. */
    public void setProtocolVersion(int version) {
        protocolVersion = version;
    }

    /** The worker's version of the control protocol. */
    public int protocolVersion() {
        return protocolVersion;
    }

    /**
     * Returns true if the worker uses the same protocol version as this launcher. Only then can it decode a
     * configuration. An adopted worker may use another version.
     */
    public boolean isOfThisVersion() {
        return protocolVersion == ControlMessage.PROTOCOL_VERSION;
    }

    /** Returns true if the worker was started with a warm-up before standby. */
    public boolean warms() {
        return warms;
    }

    /** Records that the worker was sent its assignment: its configuration and listening sockets. */
    public void markAssigned() {
        assigned = true;
    }

    /** Returns true if the assignment was sent to the worker. */
    public boolean isAssigned() {
        return assigned;
    }

    /** Records that the worker has reported the start of its warm-up. */
    public void warmUpBegan(WorkerStatus.WarmUp begun) {
        warmUp = begun;
    }

    /** The warm-up in progress; null if the worker is not warming up. */
    public WorkerStatus.@Nullable WarmUp warmUp() {
        return warmUp;
    }

    /** Records that the worker has reported standby. */
    public void reportedStandby() {
        standsBy = true;
        warmUp = null;
    }

    /** Returns true if the worker has reported standby: it could accept connections, but waits for {@code Serve}. */
    public boolean standsBy() {
        return standsBy;
    }

    /**
     * Sends {@code Serve}. Later calls have no effect.
     *
     * @param overlapping whether the predecessor still accepts connections
     */
    public void serve(boolean overlapping) {
        if (!serveSent) {
            serveSent = true;
            warmUp = null;
            send(new ControlMessage.Serve(overlapping));
        }
    }

    /** Returns true if {@code Serve} was sent to the worker. */
    public boolean isServeSent() {
        return serveSent;
    }

    /** Sets the time at which a worker that is still starting counts as hung. */
    public void expectReadyBy(long deadlineNanos) {
        readyDeadlineNanos = deadlineNanos;
    }

    /** The time at which a worker that is still starting counts as hung. */
    public long readyDeadlineNanos() {
        return readyDeadlineNanos;
    }

    /** Records that the worker accepts connections, as {@code message} reports. */
    public void becameReady(ControlMessage.Ready message, long nowNanos) {
        ready = message;
        readyNanos = nowNanos;
        heartbeat.beat(nowNanos);
        enter(WorkerState.READY);
    }

    /** The worker's {@code Ready} message; null before the worker is ready. */
    public ControlMessage.@Nullable Ready ready() {
        return ready;
    }

    /** Time of the {@code Ready} message. Valid only if {@link #ready()} is not null. */
    public long readyNanos() {
        return readyNanos;
    }

    /** Orders the worker to stop accepting, to finish its requests within {@code drainNanos}, and then to exit. */
    public void drain(long drainNanos) {
        send(new ControlMessage.Drain(drainNanos));
        enterDraining(System.nanoTime() + drainNanos + EXIT_GRACE_NANOS);
    }

    private void enterDraining(long deadlineNanos) {
        exitDeadlineNanos = deadlineNanos;
        enter(WorkerState.DRAINING);
    }

    /** Records that the worker drains although this launcher did not order it. The deadline of the drain is unknown. */
    public void drainingWithoutOrder(long nowNanos) {
        enterDraining(nowNanos + FOREIGN_DRAIN_NANOS);
    }

    /** Records that the worker has reported {@code Draining}. */
    public void stoppedAccepting() {
        hasStoppedAccepting = true;
    }

    /** Returns true if the worker has reported {@code Draining}. */
    public boolean hasStoppedAccepting() {
        return hasStoppedAccepting;
    }

    /** Time at which a draining worker must have exited. Valid only in the state {@link WorkerState#DRAINING}. */
    public long exitDeadlineNanos() {
        return exitDeadlineNanos;
    }

    /** Records the reason for which the worker cannot serve. */
    public void failed(String reason) {
        failure = reason;
    }

    /** The reason that the worker reported for its failure; null if it reported none. */
    @Nullable
    public String failure() {
        return failure;
    }

    /** The reason for which the launcher killed this worker; null if there is none. */
    @Nullable
    public String killReason() {
        return killReason;
    }

    /** Records that the class archive (AppCDS) was discarded, because it may have caused the failed start. */
    public void classArchiveDiscarded() {
        isClassArchiveDiscarded = true;
    }

    /** Returns true if the class archive was discarded, so that a repeated start may succeed. */
    public boolean isClassArchiveDiscarded() {
        return isClassArchiveDiscarded;
    }

    /** Sends {@code message}, or drops it if the worker is not connected. */
    public void send(ControlMessage message) {
        Channel channel = control;
        if (channel != null) {
            channel.writeAndFlush(message);
        }
    }

    /**
     * Requests a thread dump by SIGQUIT, once. The JVM writes it to standard output, so that it shows where the worker
     * hangs. A stopped process does not react.
     *
     * @return false if the signal was sent before
     */
    public boolean requestThreadDump() throws IOException {
        if (threadDumpRequested) {
            return false;
        }
        threadDumpRequested = true;
        // The shell's built-in kill command is used, because small images lack the package procps with the external
        // command.
        new ProcessBuilder("sh", "-c", "kill -QUIT \"$0\"", Long.toString(pid())).start();
        return true;
    }

    /** Sends SIGKILL, which also ends a stopped process. */
    public void kill() {
        kill(null);
    }

    /**
     * Kills the process, as {@link #kill()} does.
     *
     * @param reason what the worker did, such as {@code did not become ready in time}; null for none
     */
    public void kill(@Nullable String reason) {
        if (state != WorkerState.GONE) {
            killReason = reason;
            enter(WorkerState.DYING);
            process.destroyForcibly();
        }
    }

    /** Records that the process has exited. */
    public void markGone() {
        enter(WorkerState.GONE);
    }
}
