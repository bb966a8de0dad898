package io.millrace.launcher.process;

import io.millrace.worker.control.ControlMessage;
import io.netty.channel.Channel;
import java.io.IOException;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** One worker: the process, its control connection and its state. Confined to the supervisor's event loop. */
public final class WorkerProcess {
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

    /** Number of the worker among all that were started. */
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

    /** What it was started for; null for a worker of another launcher. */
    @Nullable
    public WorkerPlan plan() {
        return plan;
    }

    /** Its beats. */
    public HeartbeatWatch heartbeat() {
        return heartbeat;
    }

    /** Its state. */
    public WorkerState state() {
        return state;
    }

    private void enter(WorkerState next) {
        assert state.compareTo(next) <= 0 : state + " -> " + next;
        state = next;
    }

    /** The worker has opened its control connection. */
    public void connected(Channel channel) {
        control = channel;
    }

    /** Whether the control connection was opened. */
    public boolean hasConnected() {
        return control != null;
    }

    /** It has said which version of the control protocol it speaks. */
    public void speaks(int version) {
        protocolVersion = version;
    }

    /** The version of the control protocol that it speaks. */
    public int protocolVersion() {
        return protocolVersion;
    }

    /** Whether it would understand a configuration; one that was taken over may be of another version. */
    public boolean isOfThisVersion() {
        return protocolVersion == ControlMessage.PROTOCOL_VERSION;
    }

    /** Whether it was started to warm up before it stands by. */
    public boolean warms() {
        return warms;
    }

    /** It was sent its assignment. */
    public void wasAssigned() {
        assigned = true;
    }

    /** Whether it was sent its assignment. */
    public boolean isAssigned() {
        return assigned;
    }

    /** It has said that it warms up. */
    public void warmsUp(WorkerStatus.WarmUp begun) {
        warmUp = begun;
    }

    /** Its warm-up; null when it does not warm up, or not any more. */
    public WorkerStatus.@Nullable WarmUp warmUp() {
        return warmUp;
    }

    /** It has said that it only waits to be told to serve. */
    public void standsByNow() {
        standsBy = true;
        warmUp = null;
    }

    /** Whether it only waits to be told to serve. */
    public boolean standsBy() {
        return standsBy;
    }

    /** Sends that, once. */
    public void serve(boolean overlapping) {
        if (!toldToServe) {
            toldToServe = true;
            warmUp = null;
            send(new ControlMessage.Serve(overlapping));
        }
    }

    /** Whether it was told to serve. */
    public boolean isToldToServe() {
        return toldToServe;
    }

    /** Sets the time at which a worker that is still starting is taken for hung. */
    public void expectReadyBy(long deadlineNanos) {
        readyDeadlineNanos = deadlineNanos;
    }

    /** The time at which a worker that is still starting is taken for hung. */
    public long readyDeadlineNanos() {
        return readyDeadlineNanos;
    }

    /** The worker serves, as its message says. */
    public void becameReady(ControlMessage.Ready message, long nowNanos) {
        ready = message;
        readyNanos = nowNanos;
        heartbeat.beat(nowNanos);
        enter(WorkerState.READY);
    }

    /** What the worker said when it became ready; null before. */
    public ControlMessage.@Nullable Ready ready() {
        return ready;
    }

    /** Only where {@link #ready()} is not null. */
    public long readyNanos() {
        return readyNanos;
    }

    /** The worker stops accepting, and is to be gone at {@code deadlineNanos}. */
    public void draining(long deadlineNanos) {
        exitDeadlineNanos = deadlineNanos;
        enter(WorkerState.DRAINING);
    }

    /** Somebody else told the worker to stop; its deadline is not known here. */
    public void drainingUnasked(long nowNanos) {
        draining(nowNanos + UNASKED_DRAIN_NANOS);
    }

    /** It has said so. */
    public void hasStoppedAccepting() {
        acceptsNoMore = true;
    }

    /** Whether it has said that it accepts no more connections. */
    public boolean acceptsNoMore() {
        return acceptsNoMore;
    }

    /** Only while {@link WorkerState#DRAINING}. */
    public long exitDeadlineNanos() {
        return exitDeadlineNanos;
    }

    /** The worker has said why it gives up. */
    public void failed(String reason) {
        failure = reason;
    }

    /** Why the worker gave up, in its own words; null when it said nothing. */
    @Nullable
    public String failure() {
        return failure;
    }

    /** What it may have broken with is gone. */
    public void startsOtherwiseNextTime() {
        startsOtherwise = true;
    }

    /** Whether the same start may go better now. */
    public boolean isWorthAnotherStart() {
        return startsOtherwise;
    }

    /** Sends {@code message}; dropped when the worker is not connected. */
    public void send(ControlMessage message) {
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
    public boolean askForThreads() throws IOException {
        if (askedForThreads) {
            return false;
        }
        askedForThreads = true;
        // The shell's own kill: the command is a package of its own (procps), which small images lack.
        new ProcessBuilder("sh", "-c", "kill -QUIT \"$0\"", Long.toString(pid())).start();
        return true;
    }

    /** SIGKILL: works on a stopped process too. */
    public void kill() {
        if (state != WorkerState.GONE) {
            enter(WorkerState.DYING);
            process.destroyForcibly();
        }
    }

    /** The process has ended. */
    public void gone() {
        enter(WorkerState.GONE);
    }
}
