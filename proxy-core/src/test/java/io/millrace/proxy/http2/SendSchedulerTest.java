package io.millrace.proxy.http2;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Tests the order in which streams send (RFC 9218 s10). */
class SendSchedulerTest {
    private static final class Stream extends SendScheduler.Entry<Stream> {
        private final int id;
        private int frames;

        Stream(int id, String priority, int frames) {
            this.id = id;
            this.frames = frames;
            byte[] bytes = priority.getBytes(StandardCharsets.US_ASCII);
            this.priority.read(bytes, 0, bytes.length);
        }

        @Override
        int id() {
            return id;
        }

        @Override
        boolean isSendable() {
            return frames > 0;
        }
    }

    private final SendScheduler<Stream> scheduler = new SendScheduler<>();

    /** Returns the streams by the frames that they send, until none has any left. */
    private String order() {
        List<String> order = new ArrayList<>();
        for (Stream stream = scheduler.take(); stream != null; stream = scheduler.take()) {
            order.add(String.valueOf(stream.id));
            stream.frames--;
            if (stream.isSendable()) {
                scheduler.add(stream);
            }
        }
        assertTrue(scheduler.isEmpty());
        return String.join(" ", order);
    }

    /** Streams as {@code id:priority:frames} in the order in which they are added. */
    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "false | 1::3 3::3 5::1                 | 1 3 5 1 3 1 3",
                "true  | 1::3 3::3 5::1                 | 1 1 1 3 3 3 5",
                "true  | 5::2 1::2 3::2                 | 1 1 3 3 5 5",
                "true  | 1:i:2 3:i:2                    | 1 3 1 3",
                "true  | 1:i:2 3::2 5:i:1               | 3 3 1 5 1",
                "true  | 1:u=5:2 3:u=0:2 5:u=3:1        | 3 3 5 1 1",
                "false | 1:u=5:2 3:u=0:2 5:u=0:1        | 3 5 3 1 1",
                "true  | 1:u=7 i:1 3:u=7:1 5:u=6:1      | 5 3 1",
                "true  | 1:u=1:0 3:u=2:1                | 3",
                "true  | 1:u=9:1 3:u=2:1                | 3 1",
            })
    void sendsByUrgencyAndThenInTurn(boolean prioritized, String streams, String expected) {
        if (prioritized) {
            scheduler.prioritized();
        }
        for (String stream : streams.replace(" i:", ",i:").split(" +", -1)) {
            String[] parts = stream.split(":", -1);
            scheduler.add(new Stream(
                    Integer.parseInt(parts[0]),
                    parts[1].replace(',', ' ').replace(" i", ", i"),
                    Integer.parseInt(parts[2])));
        }
        assertEquals(expected, order());
    }

    @Test
    void streamsAreTakenOutAnywhereAndAddedOnce() {
        Stream[] streams = new Stream[5];
        for (int i = 0; i < streams.length; i++) {
            streams[i] = new Stream(2 * i + 1, "", 1);
            scheduler.add(streams[i]);
            scheduler.add(streams[i]);
        }
        scheduler.remove(streams[0]);
        scheduler.remove(streams[2]);
        scheduler.remove(streams[4]);
        scheduler.remove(streams[4]);
        assertEquals("3 7", order());
        // The removed tail no longer belongs to the queue.
        scheduler.add(streams[4]);
        scheduler.add(streams[0]);
        assertEquals("9 1", order());
        assertNull(scheduler.take());
    }
}
