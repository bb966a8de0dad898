package io.millrace.launcher.process;

import io.millrace.worker.control.ControlMessage;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * The launcher's view of one worker: process, control connection and state. Not thread-safe; confined to the
 * supervisor's event loop.
 */
public final class WorkerProcess {
    /** Time limit of a drain that this launcher did not order: the longest drain timeout that can be configured. */
    private static final long UNASKED_DRAIN_NANOS = TimeUnit.HOURS.toNanos(24);

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
    private boolean askedForThreads;
    private int protocolVersion = ControlMessage.PROTOCOL_VERSION;
    private final boolean warms;
    private boolean assigned;
    private boolean standsBy;
    private boolean toldToServe;
    private WorkerStatus.@Nullable WarmUp warmUp;
    private boolean startsOtherwise;
    private boolean acceptsNoMore;

    /**
     * @param plan the plan that the worker was started with; null for a worker of another launcher
     * @param warms whether the worker warms up before standby
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
     * Number of the worker, increased by one with every start. A launcher that adopts a worker continues its numbers.
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

    /** The plan that the worker was started with; null for a worker of another launcher. */
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

    /** Records the worker's version of the control protocol, from its {@code Hello}. */
    public void speaks(int version) {
        protocolVersion = version;
    }

    /** The worker's version of the control protocol. */
    public int protocolVersion() {
        return protocolVersion;
    }

    /**
     * Returns true if the worker can decode a configuration of this launcher. An adopted worker may use another
     * protocol version.
     */
    public boolean isOfThisVersion() {
        return protocolVersion == ControlMessage.PROTOCOL_VERSION;
    }

    /** Returns true if the worker was started with a warm-up before standby. */
    public boolean warms() {
        return warms;
    }

    /** Records that the assignment was sent to the worker. */
    public void wasAssigned() {
        assigned = true;
    }

    /** Returns true if the assignment was sent to the worker. */
    public boolean isAssigned() {
        return assigned;
    }

    /** Records that the worker has reported the start of its warm-up. */
    public void warmsUp(WorkerStatus.WarmUp begun) {
        warmUp = begun;
    }

    /** The warm-up in progress; null if the worker is not warming up. */
    public WorkerStatus.@Nullable WarmUp warmUp() {
        return warmUp;
    }

    /** Records that the worker has reported standby. */
    public void standsByNow() {
        standsBy = true;
        warmUp = null;
    }

    /** Returns true if the worker has reported standby: it is ready and waits for {@code Serve}. */
    public boolean standsBy() {
        return standsBy;
    }

    /** Sends {@code Serve}. Later calls have no effect. */
    public void serve(boolean overlapping) {
        if (!toldToServe) {
            toldToServe = true;
            warmUp = null;
            send(new ControlMessage.Serve(overlapping));
        }
    }

    /** Returns true if {@code Serve} was sent to the worker. */
    public boolean isToldToServe() {
        return toldToServe;
    }

    /** Sets the time after which a worker that is still starting is treated as hung. */
    public void expectReadyBy(long deadlineNanos) {
        readyDeadlineNanos = deadlineNanos;
    }

    /** The time after which a worker that is still starting is treated as hung. */
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

    /** Orders the worker to stop accepting, and to exit after that time at the latest. */
    public void drain(long drainNanos) {
        send(new ControlMessage.Drain(drainNanos));
        draining(System.nanoTime() + drainNanos + EXIT_GRACE_NANOS);
    }

    private void draining(long deadlineNanos) {
        exitDeadlineNanos = deadlineNanos;
        enter(WorkerState.DRAINING);
    }

    /** Records a drain that was ordered by another process, whose deadline is not known. */
    public void drainingUnasked(long nowNanos) {
        draining(nowNanos + UNASKED_DRAIN_NANOS);
    }

    /** Records that the worker has reported {@code Draining}. */
    public void hasStoppedAccepting() {
        acceptsNoMore = true;
    }

    /** Returns true if the worker has reported that it no longer accepts connections. */
    public boolean acceptsNoMore() {
        return acceptsNoMore;
    }

    /** Time by which the worker must exit. Valid only in the state {@link WorkerState#DRAINING}. */
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

    /** Records that the class archive, a possible cause of the failed start, was discarded. */
    public void startsOtherwiseNextTime() {
        startsOtherwise = true;
    }

    /** Returns true if a repeated start may succeed: a possible cause of the failure was removed. */
    public boolean isWorthAnotherStart() {
        return startsOtherwise;
    }

    /** Sends {@code message}, or drops it if the worker is not connected. */
    public void send(ControlMessage message) {
        Channel channel = control;
        if (channel != null) {
            channel.writeAndFlush(message);
        }
    }

    /**
     * Sends SIGQUIT once: the JVM writes a thread dump to standard output, which shows where the worker hangs. A
     * stopped process does not react.
     *
     * @return false if the signal was sent before
     */
    public boolean askForThreads() throws IOException {
        if (askedForThreads) {
            return false;
        }
        askedForThreads = true;
        // The kill command built into the shell. The external command is in a separate package (procps), which small
        // images lack.
        new ProcessBuilder("sh", "-c", "kill -QUIT \"$0\"", Long.toString(pid())).start();
        return true;
    }

    /** Sends SIGKILL, which also ends a stopped process. */
    public void kill() {
        if (state != WorkerState.GONE) {
            enter(WorkerState.DYING);
            process.destroyForcibly();
        }
    }

    /** Records that the process has exited. */
    public void gone() {
        enter(WorkerState.GONE);
    }
}
