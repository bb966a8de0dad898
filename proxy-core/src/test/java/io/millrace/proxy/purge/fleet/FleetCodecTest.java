package io.millrace.proxy.purge.fleet;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;

import io.millrace.proxy.purge.fleet.FleetPurge.Action;
import io.millrace.proxy.purge.fleet.RefusedMessageException.Reason;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests that messages are read as they were written, and that others are refused with a reason. */
class FleetCodecTest {
    private static final FleetPurge HOST = FleetPurge.of(Action.HOST, List.of("a.example"), true);
    private static final FleetMessage MESSAGE = new FleetMessage("cdn", "n1", "i1", "n1:s1", HOST);

    private static Reason refusal(byte[] line, String node) {
        return assertThrows(RefusedMessageException.class, () -> FleetCodec.read(line, node, "cdn"))
                .reason();
    }

    private static Reason refusal(String line) {
        return refusal(line.getBytes(StandardCharsets.UTF_8), "n1");
    }

    private static String text(FleetMessage message) {
        return new String(FleetCodec.write(message), StandardCharsets.UTF_8);
    }

    private static String text(Random random) {
        StringBuilder text = new StringBuilder();
        for (int i = random.nextInt(20); i >= 0; i--) {
            text.append("aZ9\"\\\n\t{}[]äß€/:,".charAt(random.nextInt(17)));
        }
        return text.toString();
    }

    private static List<String> texts(Random random, int count) {
        List<String> texts = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            texts.add(text(random));
        }
        return texts;
    }

    @Test
    void randomMessagesAreReadAsWritten() throws Exception {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        Action[] actions = Action.values();
        for (int i = 0; i < 2000; i++) {
            Action action = actions[random.nextInt(actions.length)];
            int targets = random.nextInt(4);
            if (!action.permits(targets)) {
                continue;
            }
            FleetPurge purge = new FleetPurge(action, texts(random, targets), texts(random, 2), random.nextBoolean());
            FleetMessage message = new FleetMessage("cdn", "n1", text(random), "n1:" + text(random), purge);
            byte[] line = FleetCodec.write(message);
            assertFalse(new String(line, StandardCharsets.UTF_8).contains("\n"), "more than one line");
            assertEquals(message, FleetCodec.read(line, "n1", "cdn"));
        }
    }

    @Test
    void changedBytesAreRefusedOrRead() {
        long seed = System.nanoTime();
        System.out.println("seed " + seed);
        Random random = new Random(seed);
        int refused = 0;
        for (int i = 0; i < 5000; i++) {
            byte[] line = FleetCodec.write(MESSAGE);
            line[random.nextInt(line.length)] = (byte) random.nextInt();
            try {
                FleetCodec.read(line, "n1", "cdn");
            } catch (RefusedMessageException e) {
                refused++;
            }
        }
        assertFalse(refused == 0, "no message was refused");
    }

    @Test
    void refusalsNameTheReason() {
        String text = text(MESSAGE);
        assertEquals(Reason.OTHER_FLEET, refusal(text.replace("\"cdn\"", "\"dev\"")));
        assertEquals(Reason.FORGED_NODE, refusal(FleetCodec.write(MESSAGE), "n2"));
        assertEquals(Reason.FORGED_NODE, refusal(text.replace("\"n1:s1\"", "\"n2:s1\"")));
        assertEquals(Reason.VERSION, refusal(text.replace("\"v\":1", "\"v\":0")));
        assertEquals(Reason.VERSION, refusal(text.replace("\"v\":1,", "")));
        assertEquals(Reason.VERSION, refusal(text.replace("\"host\"", "\"moon\"")));
        assertEquals(Reason.MALFORMED, refusal(text.replace("[\"a.example\"]", "[]")));
        assertEquals(Reason.MALFORMED, refusal(text.replace("[\"a.example\"]", "[1]")));
        assertEquals(Reason.MALFORMED, refusal(text.replace("\"instance\":\"i1\",", "")));
        assertEquals(Reason.MALFORMED, refusal(text + "{}"));
        assertEquals(Reason.MALFORMED, refusal("purge it"));
        assertEquals(Reason.MALFORMED, refusal(""));
        FleetPurge longPurge = FleetPurge.of(Action.TAG, List.of("t".repeat(FleetCodec.MESSAGE_BYTES_MAX)), false);
        assertEquals(
                Reason.TOO_LONG,
                refusal(FleetCodec.write(new FleetMessage("cdn", "n1", "i1", "n1:s1", longPurge)), "n1"));
    }

    @Test
    void unknownMembersAreIgnored() throws Exception {
        String line = text(MESSAGE).replace("{\"v\"", "{\"later\":{\"a\":[1]},\"v\"");
        assertEquals(MESSAGE, FleetCodec.read(line.getBytes(StandardCharsets.UTF_8), "n1", "cdn"));
    }
}
