package io.millrace.proxy.net;

import io.millrace.proxy.memory.SlowClients;
import io.netty.channel.EventLoop;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The client connections of one event loop: their number, their limit, their timeouts and their drain. One periodic tick looks
 * at every connection's deadline, so that a request neither starts nor cancels a timer; a timeout is late by at most
 * {@value #TICK_MILLIS} ms.
 *
 * <p>Confined to its event loop, except {@link #size}.
 */
public final class ConnectionSet {
    private static final Logger log = LoggerFactory.getLogger(ConnectionSet.class);

    /** Time between two looks at the deadlines. */
    static final long TICK_MILLIS = 250;

    /**
     * For requests that are on their way when a drain begins: closing their connection at that moment would lose them
     * (RFC 9112 s9.6).
     */
    static final long IDLE_GRACE_MILLIS = 1000;

    /** Counts connections by client. */
    public interface Clients {
        /** Nobody is counted. */
        Clients NOT_COUNTED = new Clients() {
            @Override
            public boolean admit(ClientConnection connection) {
                return true;
            }

            @Override
            public void left(ClientConnection connection) {}
        };

        /** A connection comes; false when its client has as many as it may. */
        boolean admit(ClientConnection connection);

        /** A connection that was admitted is gone. */
        void left(ClientConnection connection);
    }

    /** A connection in the set. */
    public interface Member {
        /** Looks at its deadlines. */
        void onTick(long nowNanos);

        /**
         * The connection ends behind the response to the request under way, or to the next.
         *
         * @param idleToo whether one without a request ends at once
         */
        void onDrain(boolean idleToo);

        /** Closes at once. */
        void onClose();

        /** Adds itself to the clients that have bytes to take, where that is so. */
        default void addIfBehind(SlowClients slow, long nowNanos) {}

        /** What is known of the connection; null before its client is known, and then it is not counted by client. */
        default @Nullable ClientConnection client() {
            return null;
        }

        /** The place in the set, kept by the set. */
        int slot();

        /** Called by the set only. */
        void slot(int slot);
    }

    private final EventLoop loop;
    private final IntSupplier limit;
    private final List<Member> members = new ArrayList<>();
    private final Runnable onRefused;
    private final Clients clients;
    private volatile int size;
    private boolean draining;
    private boolean closingAfterAnswers;
    private boolean endsIdle;

    @Nullable
    private Runnable onEmpty;

    @Nullable
    private SlowClients slowClients;

    private io.netty.util.concurrent.@Nullable Future<?> ticking;

    /** The same with a limit that stays. */
    public ConnectionSet(EventLoop loop, int limit, Runnable onRefused) {
        this(loop, () -> limit, onRefused);
    }

    /**
     * @param limit the most connections this loop accepts, asked at each
     * @param onRefused told of each connection beyond it
     */
    public ConnectionSet(EventLoop loop, IntSupplier limit, Runnable onRefused) {
        this(loop, limit, onRefused, Clients.NOT_COUNTED);
    }

    /**
     * As the other.
     *
     * @param clients counts by client
     */
    public ConnectionSet(EventLoop loop, IntSupplier limit, Runnable onRefused, Clients clients) {
        this.clients = clients;
        this.loop = loop;
        this.limit = limit;
        this.onRefused = onRefused;
    }

    /** Has slow clients closed where something is scarce. Before the first connection. */
    public void closeSlow(SlowClients slow) {
        slowClients = slow;
    }

    /** What slow clients are held to; null where nothing closes them for scarcity. */
    public @Nullable SlowClients slowClients() {
        return slowClients;
    }

    /** Closes slow clients now, as far as something is scarce. On the loop, and not from within a connection's event. */
    public void closeSlowNow() {
        SlowClients slow = slowClients;
        if (slow == null) {
            return;
        }
        long nowNanos = System.nanoTime();
        for (Member member : members) {
            member.addIfBehind(slow, nowNanos);
        }
        slow.closeSome(nowNanos);
    }

    /** Begins to look at deadlines. Called once, from any thread. */
    public void start() {
        ticking = loop.scheduleWithFixedDelay(this::tick, TICK_MILLIS, TICK_MILLIS, TimeUnit.MILLISECONDS);
    }

    /** Ends that; the connections are closed. */
    public void close() {
        if (ticking != null) {
            ticking.cancel(false);
        }
        for (Member member : List.copyOf(members)) {
            tell(member, Member::onClose);
        }
    }

    /**
     * Adds a connection.
     *
     * @return false when the limit is reached or the proxy drains: the caller closes it
     */
    public boolean add(Member member) {
        if (members.size() >= limit.getAsInt()) {
            onRefused.run();
            return false;
        }
        ClientConnection client = member.client();
        if (client != null && !clients.admit(client)) {
            return false;
        }
        member.slot(members.size());
        members.add(member);
        size = members.size();
        return true;
    }

    /** Removes a connection; it must be in the set. */
    public void remove(Member member) {
        int slot = member.slot();
        Member last = members.remove(members.size() - 1);
        if (last != member) {
            members.set(slot, last);
            last.slot(slot);
        }
        member.slot(-1);
        size = members.size();
        ClientConnection client = member.client();
        if (client != null) {
            clients.left(client);
        }
        if (draining && members.isEmpty()) {
            // Not from here: a connection may leave as one member and come back at once as another.
            loop.execute(this::tellWhenEmpty);
        }
    }

    private void tellWhenEmpty() {
        Runnable told = onEmpty;
        if (told != null && members.isEmpty()) {
            onEmpty = null;
            told.run();
        }
    }

    /** The same connection goes on as another member; the old one must be in the set. */
    public void replace(Member old, Member with) {
        int slot = old.slot();
        members.set(slot, with);
        with.slot(slot);
        old.slot(-1);
    }

    /**
     * Asks every connection to end after what it is doing, those without a request after {@value #IDLE_GRACE_MILLIS} ms;
     * {@code whenEmpty} runs on this loop, once, when none is left.
     */
    public void drain(Runnable whenEmpty) {
        draining = true;
        onEmpty = whenEmpty;
        drainAll(false);
        tellWhenEmpty();
        if (!members.isEmpty()) {
            loop.schedule(() -> drainAll(true), IDLE_GRACE_MILLIS, TimeUnit.MILLISECONDS);
        }
    }

    private void drainAll(boolean idleToo) {
        endsIdle = idleToo;
        for (Member member : List.copyOf(members)) {
            if (!tell(member, each -> each.onDrain(idleToo))) {
                tell(member, Member::onClose);
            }
        }
    }

    /** Has every connection end after its next answer, new ones too, until it is taken back; idle ones stay. */
    public void closeAfterAnswers(boolean wanted) {
        closingAfterAnswers = wanted;
    }

    /** Whether connections are asked to end after what they are doing. */
    public boolean isDraining() {
        return draining || closingAfterAnswers;
    }

    /** Whether the time is over in which an idle connection may still be asked. */
    public boolean endsIdle() {
        return endsIdle;
    }

    /** Connections now; any thread. */
    public int size() {
        return size;
    }

    private void tick() {
        long nowNanos = System.nanoTime();
        for (int i = members.size() - 1; i >= 0; i--) {
            if (i < members.size()) {
                tick(members.get(i), nowNanos);
            }
        }
        closeSlowSafely();
    }

    /** A fault of one connection must not keep the others from being told; false when there was one. */
    private static boolean tell(Member member, Consumer<Member> what) {
        try {
            what.accept(member);
            return true;
        } catch (RuntimeException e) {
            log.error("a connection's fault at its end", e);
            return false;
        }
    }

    /** A fault must not end the deadlines of all. */
    private void closeSlowSafely() {
        try {
            closeSlowNow();
        } catch (RuntimeException e) {
            log.error("slow clients stay open after a fault", e);
        }
    }

    /** A fault of one connection must not end the deadlines of all. */
    private static void tick(Member member, long nowNanos) {
        try {
            member.onTick(nowNanos);
        } catch (RuntimeException e) {
            log.error("connection closed after a fault at its deadline", e);
            member.onClose();
        }
    }
}
