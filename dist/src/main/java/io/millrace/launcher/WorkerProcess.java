package io.millrace.launcher;

import io.millrace.worker.control.ControlMessage;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One worker: the process, its control connection and its state. Confined to the supervisor's event loop. */
final class WorkerProcess {
    /** The longest drain that can be configured. */
    private static final long UNASKED_DRAIN_NANOS = TimeUnit.HOURS.toNanos(24);

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
     * @param plan what it was started for; null for a worker of another launcher
     * @param warms whether it warms up before it stands by
     * @param readyDeadlineNanos when a worker that is still starting is taken for hung
     */
    WorkerProcess(
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

    long generation() {
        return generation;
    }

    long pid() {
        return process.pid();
    }

    ProcessHandle process() {
        return process;
    }

    @Nullable
    WorkerPlan plan() {
        return plan;
    }

    HeartbeatWatch heartbeat() {
        return heartbeat;
    }

    WorkerState state() {
        return state;
    }

    private void enter(WorkerState next) {
        assert state.compareTo(next) <= 0 : state + " -> " + next;
        state = next;
    }

    void connected(Channel channel) {
        control = channel;
    }

    boolean hasConnected() {
        return control != null;
    }

    /** It has said which version of the control protocol it speaks. */
    void speaks(int version) {
        protocolVersion = version;
    }

    /** The version of the control protocol that it speaks. */
    int protocolVersion() {
        return protocolVersion;
    }

    /** Whether it would understand a configuration; one that was taken over may be of another version. */
    boolean isOfThisVersion() {
        return protocolVersion == ControlMessage.PROTOCOL_VERSION;
    }

    /** Whether it was started to warm up before it stands by. */
    boolean warms() {
        return warms;
    }

    /** It was sent its assignment. */
    void wasAssigned() {
        assigned = true;
    }

    boolean isAssigned() {
        return assigned;
    }

    /** It has said that it warms up. */
    void warmsUp(WorkerStatus.WarmUp begun) {
        warmUp = begun;
    }

    /** Its warm-up; null when it does not warm up, or not any more. */
    WorkerStatus.@Nullable WarmUp warmUp() {
        return warmUp;
    }

    /** It has said that it only waits to be told to serve. */
    void standsByNow() {
        standsBy = true;
        warmUp = null;
    }

    boolean standsBy() {
        return standsBy;
    }

    /** Sends that, once. */
    void serve(boolean overlapping) {
        if (!toldToServe) {
            toldToServe = true;
            warmUp = null;
            send(new ControlMessage.Serve(overlapping));
        }
    }

    boolean isToldToServe() {
        return toldToServe;
    }

    void expectReadyBy(long deadlineNanos) {
        readyDeadlineNanos = deadlineNanos;
    }

    long readyDeadlineNanos() {
        return readyDeadlineNanos;
    }

    void becameReady(ControlMessage.Ready message, long nowNanos) {
        ready = message;
        readyNanos = nowNanos;
        heartbeat.beat(nowNanos);
        enter(WorkerState.READY);
    }

    /** What the worker said when it became ready; null before. */
    ControlMessage.@Nullable Ready ready() {
        return ready;
    }

    /** Only where {@link #ready()} is not null. */
    long readyNanos() {
        return readyNanos;
    }

    /** The worker stops accepting, and is to be gone at {@code deadlineNanos}. */
    void draining(long deadlineNanos) {
        exitDeadlineNanos = deadlineNanos;
        enter(WorkerState.DRAINING);
    }

    /** Somebody else told the worker to stop; its deadline is not known here. */
    void drainingUnasked(long nowNanos) {
        draining(nowNanos + UNASKED_DRAIN_NANOS);
    }

    /** It has said so. */
    void hasStoppedAccepting() {
        acceptsNoMore = true;
    }

    boolean acceptsNoMore() {
        return acceptsNoMore;
    }

    /** Only while {@link WorkerState#DRAINING}. */
    long exitDeadlineNanos() {
        return exitDeadlineNanos;
    }

    void failed(String reason) {
        failure = reason;
    }

    /** Why the worker gave up, in its own words; null when it said nothing. */
    @Nullable
    String failure() {
        return failure;
    }

    /** What it may have broken with is gone. */
    void startsOtherwiseNextTime() {
        startsOtherwise = true;
    }

    /** Whether the same start may go better now. */
    boolean isWorthAnotherStart() {
        return startsOtherwise;
    }

    /** Sends {@code message}; dropped when the worker is not connected. */
    void send(ControlMessage message) {
        Channel channel = control;
        if (channel != null) {
            channel.writeAndFlush(message);
        }
    }

    /**
     * SIGQUIT, once: a JVM that is not stopped writes what its threads do to standard output, which is where it hangs.
     *
     * @return false when it was asked before
     */
    boolean askForThreads() throws IOException {
        if (askedForThreads) {
            return false;
        }
        askedForThreads = true;
        // The shell's own kill: the command is a package of its own (procps), which small images lack.
        new ProcessBuilder("sh", "-c", "kill -QUIT \"$0\"", Long.toString(pid())).start();
        return true;
    }

    /** SIGKILL: works on a stopped process too. */
    void kill() {
        if (state != WorkerState.GONE) {
            enter(WorkerState.DYING);
            process.destroyForcibly();
        }
    }

    void gone() {
        enter(WorkerState.GONE);
    }
}
