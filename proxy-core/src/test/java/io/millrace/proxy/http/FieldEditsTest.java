package io.millrace.proxy.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.nio.charset.StandardCharsets;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Tests changes of fields, and that their encoded form has the same effect. */
class FieldEditsTest {
    private static final byte[] WIRE = "HTTP/1.1 200 OK\r\nserver: o\r\nX-Kept: k\r\nSERVER: p\r\nSet-It: s\r\n"
            .getBytes(StandardCharsets.US_ASCII);

    private static FieldName name(String text) {
        byte[] bytes = text.getBytes(StandardCharsets.US_ASCII);
        return FieldName.of(bytes, 0, bytes.length);
    }

    private static FieldEdits edits() {
        FieldSection added = FieldSection.builder()
                .add("Server", "new")
                .add("X-Empty", "")
                .add("X-Added", "with, commas; and=more")
                .build();
        return FieldEdits.of(List.of(name("Server"), name("X-Absent")), added);
    }

    private static String written(FieldEdits edits) {
        OutboundHead head = new OutboundHead().resetWire(200, WIRE, false).edit(edits);
        assertTrue(head.isWireTrimmed());
        ByteBuf out = Unpooled.buffer();
        head.writeTrimmedWire(out);
        head.writeAdded(out);
        assertTrue(out.readableBytes() <= WIRE.length + head.addedLength());
        return out.toString(StandardCharsets.US_ASCII);
    }

    @Test
    void encodedChangesHaveTheSameEffect() {
        String expected = "HTTP/1.1 200 OK\r\nX-Kept: k\r\nSet-It: s\r\nServer: new\r\nX-Empty: \r\n"
                + "X-Added: with, commas; and=more\r\n";
        assertEquals(expected, written(edits()));
        assertEquals(expected, written(edits().encoded()));
        FieldSection before =
                FieldSection.builder().add("Server", "old").add("X-Kept", "k").build();
        FieldSection after = edits().encoded().applyTo(before);
        assertEquals("new", after.get(name("Server")));
        assertEquals("k", after.get(name("X-Kept")));
        assertEquals(edits().applyTo(before).size(), after.size());
        assertTrue(edits().encoded().removes(name("x-absent")));
        assertFalse(edits().encoded().removes(name("x-added")));
    }

    /** Names whose first letters or lengths are those of a removed name stay. */
    @Test
    void similarNamesStay() {
        FieldEdits edits = FieldEdits.of(List.of(name("Sexver"), name("Sit-It")), FieldSection.EMPTY);
        OutboundHead head = new OutboundHead().resetWire(200, WIRE, false).edit(edits.encoded());
        assertFalse(head.isWireTrimmed());
    }
}
