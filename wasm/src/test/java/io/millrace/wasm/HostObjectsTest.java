package io.millrace.wasm;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.wasm.abi.FieldEdit;
import io.millrace.wasm.abi.HeaderMap;
import io.millrace.wasm.abi.ModuleLog;
import io.millrace.wasm.abi.Pairs;
import io.millrace.wasm.abi.SharedValues;
import io.millrace.wasm.abi.Status;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Tests the forms and tables of the ABI without a module. */
class HostObjectsTest {
    @Test
    void pairsHaveTheFormOfTheAbi() {
        byte[] form = {1, 0, 0, 0, 1, 0, 0, 0, 2, 0, 0, 0, 'a', 0, 'b', 'c', 0};
        assertArrayEquals(form, Pairs.encode(List.of("a", "bc")));
        assertEquals(List.of("a", "bc"), Pairs.decode(form));
        assertEquals(List.of(), Pairs.decode(new byte[0]));
        assertEquals(List.of("", ""), Pairs.decode(Pairs.encode(List.of("", ""))));
    }

    @Test
    void hostilePairsAreRefused() {
        byte[] form = Pairs.encode(List.of("name", "value", "other", ""));
        for (int length = 1; length < form.length; length++) {
            assertNull(Pairs.decode(Arrays.copyOf(form, length)), "length=" + length);
        }
        assertNull(Pairs.decode(new byte[] {-1, -1, -1, -1}));
        assertNull(Pairs.decode(new byte[] {-1, -1, -1, 0x7f, 0, 0, 0, 0}));
        assertNull(Pairs.decode(new byte[] {1, 0, 0, 0, -1, -1, -1, 0x7f, 0, 0, 0, 0, 0}));
        long seed = System.nanoTime();
        Random random = new Random(seed);
        for (int i = 0; i < 10_000; i++) {
            byte[] bytes = form.clone();
            bytes[random.nextInt(bytes.length)] = (byte) random.nextInt(256);
            List<String> decoded = Pairs.decode(bytes);
            assertTrue(decoded == null || decoded.size() <= form.length, "seed=" + seed);
        }
    }

    @Test
    void aMapRecordsItsChanges() {
        HeaderMap map =
                new HeaderMap().with(":path", "/").with("a", "1").with("b", "2").with("a", "3");
        assertEquals("1,3", map.get("A"));
        assertEquals(Status.OK, map.edit(FieldEdit.Kind.REPLACE, "A", "4"));
        assertEquals("4", map.get("a"));
        assertEquals(Status.OK, map.edit(FieldEdit.Kind.REMOVE, "b", ""));
        assertNull(map.get("b"));
        assertEquals(Status.OK, map.edit(FieldEdit.Kind.ADD, "c", "5"));
        assertEquals(3, map.size());
        assertEquals(Status.UNIMPLEMENTED, map.edit(FieldEdit.Kind.REPLACE, ":path", "/x"));
        assertEquals(Status.BAD_ARGUMENT, map.edit(FieldEdit.Kind.ADD, "", "x"));
        assertEquals(3, map.edits().size());
    }

    @Test
    void aMapHasALimitOfChanges() {
        HeaderMap map = new HeaderMap();
        int status = Status.OK;
        for (int i = 0; i < 2000 && status == Status.OK; i++) {
            status = map.edit(FieldEdit.Kind.ADD, "a", "1");
        }
        assertEquals(Status.INTERNAL_FAILURE, status);
        assertEquals(1000, map.edits().size());
        assertEquals(Status.INTERNAL_FAILURE, new HeaderMap().edit(FieldEdit.Kind.ADD, "a", "x".repeat(70_000)));
    }

    @Test
    void replacingAllFieldsChangesOnlyOtherValues() {
        HeaderMap map = new HeaderMap()
                .with(":path", "/")
                .with("host", "h")
                .with("same", "1")
                .with("same", "2")
                .with("gone", "x")
                .with("other", "y");
        List<String> wanted = new ArrayList<>(List.of(":path", "/new", "host", "h", "same", "1", "same", "2"));
        wanted.addAll(List.of("Other", "z", "other", "w"));
        assertEquals(Status.OK, map.replaceAll(wanted));
        assertEquals(
                List.of(
                        new FieldEdit(FieldEdit.Kind.REMOVE, "gone", ""),
                        new FieldEdit(FieldEdit.Kind.REPLACE, "other", "z"),
                        new FieldEdit(FieldEdit.Kind.ADD, "other", "w")),
                map.edits());
    }

    @Test
    void sharedDataIsComparedAndLimited() {
        SharedValues values = new SharedValues();
        assertNull(values.get("key"));
        assertEquals(Status.CAS_MISMATCH, values.set("key", new byte[] {1}, 7));
        assertEquals(Status.OK, values.set("key", new byte[] {1}, 0));
        SharedValues.Value first = values.get("key");
        assertNotNull(first);
        assertEquals(Status.OK, values.set("key", new byte[] {2}, first.version()));
        assertEquals(Status.CAS_MISMATCH, values.set("key", new byte[] {3}, first.version()));
        assertArrayEquals(new byte[] {2}, values.get("key").bytes());
        assertEquals(Status.INTERNAL_FAILURE, values.set("large", new byte[SharedValues.BYTES_MAX], 0));
        assertEquals(Status.OK, values.set("key", new byte[0], 0));
        assertNull(values.get("key"));
        assertEquals(Status.OK, values.set("k", new byte[SharedValues.BYTES_MAX - 1], 0));
        assertEquals(Status.INTERNAL_FAILURE, values.set("l", new byte[] {1}, 0));
    }

    @Test
    void metricsHaveKinds() {
        Canned.Context context = new Canned.Context();
        MetricTable metrics = new MetricTable(context, new ModuleLog(context.log()));
        int counter = metrics.define(MetricTable.COUNTER, "requests.all");
        assertEquals(counter, metrics.define(MetricTable.COUNTER, "requests.all"));
        assertEquals(-Status.BAD_ARGUMENT, metrics.define(MetricTable.GAUGE, "requests.all"));
        assertEquals(-Status.BAD_ARGUMENT, metrics.define(3, "other"));
        assertEquals(Status.OK, metrics.increment(counter, 5));
        assertEquals(Status.BAD_ARGUMENT, metrics.increment(counter, -1));
        assertEquals(Status.BAD_ARGUMENT, metrics.record(counter, 1));
        assertEquals(5L, metrics.value(counter));
        assertEquals(5, context.counters.get("requests_all").sum());
        int gauge = metrics.define(MetricTable.GAUGE, "open");
        assertEquals(Status.OK, metrics.record(gauge, 9));
        assertEquals(Status.OK, metrics.increment(gauge, -4));
        assertEquals(5L, metrics.value(gauge));
        int histogram = metrics.define(MetricTable.HISTOGRAM, "size");
        assertEquals(Status.OK, metrics.record(histogram, 100));
        assertEquals(Status.BAD_ARGUMENT, metrics.increment(histogram, 1));
        assertNull(metrics.value(histogram));
        assertEquals(100, context.counters.get("size_sum").sum());
        assertEquals(Status.NOT_FOUND, metrics.increment(77, 1));
        assertNull(metrics.value(-1));
    }
}
