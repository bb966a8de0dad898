package io.millrace.proxy.http;

import static java.nio.charset.StandardCharsets.ISO_8859_1;
import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.netty.buffer.ByteBuf;
import io.netty.buffer.Unpooled;
import java.util.Arrays;
import java.util.Random;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class FieldSectionTest {

    private static final long SEED = 0x5eed_f1e1d5L;

    @Test
    void aBuilderTakesMoreThanItWasMadeForAndItsLastSectionIsAsACopy() {
        FieldSection one = FieldSection.builder().add("A", "1").build();
        FieldSection.Builder builder = FieldSection.builderLike(one);
        for (int i = 0; i < 40; i++) {
            builder.add("Name-" + i, "value " + i);
        }
        FieldSection copy = builder.build();
        FieldSection last = builder.buildLast();
        assertEquals(40, last.size());
        assertEquals("value 39", last.value(39));
        assertEquals(copy.wireLength(), last.wireLength());
        assertArrayEquals(written(copy), written(last));
    }

    @Test
    void manyShortLinesAreReadWithAnyBufferSize() {
        byte[] bytes = "A:1\r\n".repeat(100).getBytes(ISO_8859_1);
        FieldSection fields = FieldSection.parse(bytes, 0, bytes.length);
        assertNotNull(fields);
        assertEquals(100, fields.size());
        assertEquals("1", fields.value(99));
    }

    @Test
    void findsLinesByNameInTheirOrder() {
        FieldSection fields = FieldSection.builder()
                .add("Via", "1.0 a")
                .add("x-thing", "one")
                .add(FieldName.ETAG, "\"a\"")
                .add("vIA", "1.1 b")
                .add("X-Thing", "two")
                .build();
        assertEquals(5, fields.size());
        assertEquals(0, fields.find(FieldName.VIA));
        assertEquals(3, fields.next(FieldName.VIA, 0));
        assertEquals(-1, fields.next(FieldName.VIA, 3));
        assertEquals(1, fields.find(FieldName.of("X-THING")));
        assertEquals(4, fields.next(FieldName.of("X-THING"), 1));
        assertEquals(-1, fields.find(FieldName.of("X-Other")));
        assertEquals(-1, fields.find(FieldName.AGE));
        assertTrue(fields.contains(FieldName.ETAG));
        assertTrue(fields.isNamed(3, FieldName.VIA));
        assertFalse(fields.isNamed(1, FieldName.VIA));
        assertTrue(fields.isNamed(4, FieldName.of("x-thing")));
        assertEquals("vIA", fields.name(3));
        assertEquals("\"a\"", fields.get(FieldName.ETAG));
        assertEquals("1.0 a, 1.1 b", fields.joined(FieldName.VIA));
        assertEquals("one", fields.get(FieldName.of("X-Thing")));
        assertNull(fields.joined(FieldName.AGE));
        assertNull(fields.get(FieldName.AGE));
    }

    @Test
    void keepsBytesAbove127AsTheyAre() {
        String value = "caf\u00e9 \u00ff";
        FieldSection fields = FieldSection.builder().add("X-Name", value).build();
        assertEquals(value, fields.value(0));
        assertArrayEquals("X-Name: caf\u00e9 \u00ff\r\n".getBytes(ISO_8859_1), written(fields));
    }

    @Test
    void leavesOutWhiteSpaceAroundValues() {
        FieldSection fields = FieldSection.builder()
                .add("A", " \t v w\t ")
                .add("B", "   ")
                .add("C", "")
                .build();
        assertEquals("v w", fields.value(0));
        assertEquals("", fields.value(1));
        assertEquals("", fields.value(2));
        assertArrayEquals("A: v w\r\nB: \r\nC: \r\n".getBytes(ISO_8859_1), written(fields));
    }

    @ParameterizedTest(name = "RFC 9110 5.5: a value with a control byte cannot be added ({index})")
    @ValueSource(strings = {"a\rb", "a\nb", "a\0b", "a\r\nSet-Cookie: x"})
    void refusesValuesThatWouldBreakTheFraming(String value) {
        FieldSection.Builder builder = FieldSection.builder().add("A", "1");
        assertThrows(IllegalArgumentException.class, () -> builder.add("B", value));
        assertEquals("A: 1\n", builder.build().toString());
    }

    @Test
    void refusesNamesThatAreNoTokensAndWideCharacters() {
        FieldSection.Builder builder = FieldSection.builder();
        assertThrows(IllegalArgumentException.class, () -> builder.add("A b", "1"));
        assertThrows(IllegalArgumentException.class, () -> builder.add("", "1"));
        assertThrows(IllegalArgumentException.class, () -> builder.add("A", "\u0100"));
        assertEquals(0, builder.build().size());
    }

    @Test
    void replacesAndRemovesLines() {
        FieldSection.Builder builder = FieldSection.builder()
                .add("A", "1")
                .add("Via", "x")
                .add("a", "2")
                .add("via", "y");
        FieldSection before = builder.build();
        FieldSection after =
                builder.set(FieldName.VIA, "z").remove(FieldName.of("A")).build();
        assertEquals("Via: z\n", after.toString());
        assertEquals("A: 1\nVia: x\na: 2\nvia: y\n", before.toString());
        assertFalse(builder.contains(FieldName.of("A")));
        assertEquals(1, builder.size());
    }

    @Test
    void growsBeyondTheFirstArrays() {
        FieldSection.Builder builder = FieldSection.builder();
        for (int i = 0; i < 300; i++) {
            builder.add("X-" + i, "v".repeat(i));
        }
        FieldSection fields = builder.build();
        assertEquals(300, fields.size());
        for (int i = 0; i < 300; i++) {
            assertEquals("v".repeat(i), fields.get(FieldName.of("x-" + i)));
        }
    }

    @Test
    void reusableSectionIsEmptyAgain() {
        FieldSection fields = FieldSection.reusable(1);
        byte[] first = "Host:a\r\nAge: 1".getBytes(ISO_8859_1);
        fields.reset(first);
        fields.addLine(0, 4, 5, 6);
        fields.addLine(8, 11, 13, 14);
        assertEquals("a", fields.get(FieldName.HOST));
        assertEquals("1", fields.get(FieldName.AGE));
        assertArrayEquals("Host: a\r\nAge: 1\r\n".getBytes(ISO_8859_1), written(fields));
        byte[] second = "Via:b".getBytes(ISO_8859_1);
        fields.reset(second);
        fields.addLine(0, 3, 4, 5);
        assertNull(fields.get(FieldName.HOST));
        assertEquals("Via: b\n", fields.copy().toString());
    }

    @Test
    void aCopyRemainsValidAfterTheSourceChanges() {
        byte[] shared = "....Host: a\r\nX-Any:1\r\n".getBytes(ISO_8859_1);
        FieldSection view = FieldSection.reusable(1);
        view.reset(shared);
        view.addLine(4, 8, 10, 11);
        view.addLine(13, 18, 19, 20);
        byte[] own = Arrays.copyOfRange(shared, 2, shared.length);
        FieldSection kept = view.over(own, -2, 2, own.length);
        Arrays.fill(shared, (byte) '-');
        view.reset(shared);
        assertEquals("Host: a\nX-Any: 1\n", kept.toString());
        assertEquals(0, kept.find(FieldName.HOST));
        assertEquals(1, kept.find(FieldName.of("x-any")));
        assertEquals(own.length - 2, kept.wireLength());
    }

    @Test
    void immutableSectionTakesNoLines() {
        FieldSection fields = FieldSection.builder().add("A", "1").build();
        assertThrows(IllegalStateException.class, () -> fields.addLine(0, 1, 3, 4));
        assertThrows(IllegalStateException.class, () -> fields.reset(new byte[0]));
        assertThrows(IllegalStateException.class, () -> FieldSection.EMPTY.addLine(0, 0, 0, 0));
    }

    @ParameterizedTest(name = "RFC 9112 5: block {index} is refused")
    @ValueSource(
            strings = {
                "A",
                "A\r\n",
                ": v\r\n",
                "A : v\r\n",
                " A: v\r\n",
                "A: v",
                "A: v\r",
                "A: v\n",
                "A: v\r\n w\r\n",
                "A: v\rw\r\n",
                "A: v\nB: w\r\n",
                "A: \0\r\n",
                "A: v\r\n\r\n"
            })
    void refusesBlocksThatAreNotWellFormed(String block) {
        byte[] bytes = block.getBytes(ISO_8859_1);
        assertNull(FieldSection.parse(bytes, 0, bytes.length));
    }

    @Test
    void readsItsOwnOutput() {
        Random random = new Random(SEED);
        for (int round = 0; round < 300; round++) {
            FieldSection.Builder builder = FieldSection.builder();
            int lines = random.nextInt(30);
            for (int i = 0; i < lines; i++) {
                builder.add(randomName(random), randomValue(random));
            }
            FieldSection fields = builder.build();
            byte[] block = written(fields);
            FieldSection again = FieldSection.parse(block, 0, block.length);
            assertNotNull(again, "seed " + SEED + " round " + round);
            assertEquals(fields.toString(), again.toString(), "seed " + SEED + " round " + round);
            assertArrayEquals(block, written(again.copy()));
        }
    }

    @Test
    void readsAnyBytesWithoutFailing() {
        Random random = new Random(SEED);
        byte[] alphabet = "AaVi:: \t\r\n\r\n\0\u00e9\",".getBytes(ISO_8859_1);
        for (int round = 0; round < 20_000; round++) {
            byte[] bytes = new byte[random.nextInt(24)];
            for (int i = 0; i < bytes.length; i++) {
                bytes[i] = alphabet[random.nextInt(alphabet.length)];
            }
            FieldSection fields = FieldSection.parse(bytes, 0, bytes.length);
            if (fields != null) {
                byte[] block = written(fields.copy());
                FieldSection again = FieldSection.parse(block, 0, block.length);
                assertNotNull(again, "seed " + SEED + " round " + round);
                assertEquals(fields.toString(), again.toString());
            }
        }
    }

    private static String randomName(Random random) {
        String[] names = {"Via", "Age", "X-A", "x-a", "ETag", "Cache-Control", "X-Longer-Name"};
        return names[random.nextInt(names.length)];
    }

    private static String randomValue(Random random) {
        StringBuilder value = new StringBuilder();
        int length = random.nextInt(60);
        for (int i = 0; i < length; i++) {
            char c = (char) (1 + random.nextInt(255));
            value.append(c == '\r' || c == '\n' ? 'x' : c);
        }
        return value.toString();
    }

    private static byte[] written(FieldSection fields) {
        ByteBuf out = Unpooled.buffer();
        try {
            fields.writeTo(out);
            byte[] bytes = new byte[out.readableBytes()];
            out.readBytes(bytes);
            return bytes;
        } finally {
            out.release();
        }
    }
}
