package io.millrace.proxy.net;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.channel.embedded.EmbeddedChannel;
import io.netty.util.concurrent.MockTicker;
import io.netty.util.concurrent.Ticker;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;

class GradualDrainTest {
    private static final int CONNECTIONS = 100;

    private final MockTicker ticker = Ticker.newMockTicker();
    private final EmbeddedChannel channel =
            EmbeddedChannel.builder().ticker(ticker).build();
    private final ConnectionSet connections = new ConnectionSet(channel.eventLoop(), CONNECTIONS, () -> {});
    private final List<Connection> added = new ArrayList<>();
    private int last;
    private int empty;

    /** Counts the calls of a connection; closes itself if it is idle. */
    private final class Connection implements ConnectionSet.Member {
        private int slot = -1;
        private boolean told;
        private boolean closed;

        @Override
        public void onTick(long nowNanos) {}

        @Override
        public void onDrain(boolean idleToo) {
            told = true;
            if (idleToo) {
                onClose();
            }
        }

        @Override
        public void onClose() {
            closed = true;
            connections.remove(this);
        }

        @Override
        public int slot() {
            return slot;
        }

        @Override
        public void slot(int place) {
            slot = place;
        }
    }

    private void begin(int count) {
        for (int i = 0; i < count; i++) {
            Connection connection = new Connection();
            added.add(connection);
            connections.add(connection);
        }
        connections.drainGradually(() -> last++, () -> empty++);
    }

    private void advance(int millis) {
        for (int passed = 0; passed < millis; passed += 20) {
            ticker.advanceMillis(20);
            channel.runPendingTasks();
        }
        // Tasks of the last step.
        channel.runPendingTasks();
    }

    private long told() {
        return added.stream().filter(each -> each.told).count();
    }

    @Test
    void fewConnectionsEndAtFirstAllAfterASecondAndIdleOnesASecondLater() {
        begin(CONNECTIONS);
        List<Long> told = new ArrayList<>();
        for (int tenth = 0; tenth < 10; tenth++) {
            told.add(told());
            assertFalse(connections.closesAfterRequest());
            assertEquals(0, last);
            advance(100);
        }
        assertEquals(List.of(0L, 1L, 4L, 9L, 16L, 25L, 36L, 49L, 64L, 81L), told);
        assertEquals(CONNECTIONS, told());
        assertTrue(connections.closesAfterRequest());
        advance(980);
        assertEquals(0, last);
        assertTrue(added.stream().noneMatch(each -> each.closed));
        advance(20);
        assertEquals(List.of(1, 1), List.of(last, empty));
        assertTrue(added.stream().allMatch(each -> each.closed));
    }

    @Test
    void aConnectionThatHasClosedIsNotTold() {
        begin(CONNECTIONS);
        added.get(0).onClose();
        advance(500);
        assertFalse(added.get(0).told);
        assertEquals(24, told());
    }

    @Test
    void aConnectionThatIsAddedDuringTheDrainEndsBeforeTheOthers() {
        begin(CONNECTIONS - 1);
        Connection late = new Connection();
        connections.add(late);
        advance(20);
        assertTrue(late.told);
        assertEquals(0, told());
    }

    /** Such a connection leaves the fast lane, for example. */
    @Test
    void aConnectionThatReplacesAToldOneIsTold() {
        begin(CONNECTIONS);
        advance(500);
        Connection told = added.get(CONNECTIONS - 1);
        assertTrue(told.told);
        Connection replacement = new Connection();
        connections.replace(told, replacement);
        advance(20);
        assertTrue(replacement.told);
    }

    @Test
    void aSetWithoutConnectionsEndsAtOnce() {
        begin(0);
        assertEquals(List.of(1, 1), List.of(last, empty));
    }

    /** {@code whenEmpty} may come first; {@code onNoFurtherRequest} follows at the end of the grace period. */
    @Test
    void bothAreCalledIfAllClientsLeaveEarly() {
        begin(3);
        added.forEach(Connection::onClose);
        channel.runPendingTasks();
        assertEquals(1, empty);
        advance(2000);
        assertEquals(List.of(1, 1), List.of(last, empty));
    }
}
