package io.millrace.store.engine;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.ResidentReader;
import io.millrace.store.StoreConfig;
import io.millrace.store.StoredObject;
import io.millrace.store.io.SystemFileIo;
import io.netty.buffer.ByteBuf;
import io.netty.buffer.ByteBufUtil;
import java.io.IOException;
import org.junit.jupiter.api.Test;

/** Tests reads in RAM without a reference count, with a whole store. */
class ResidentReaderTest {
    private static final byte[] BODY = TestStore.body(1, 5000);
    private static final byte[] OTHER = TestStore.body(2, 5000);

    private final TestStore test = new TestStore(StoreConfig.builder().ramBytes(1 << 20), new SystemFileIo());
    private final ResidentReader<TextHead> reader = test.store.residentReader();

    private StoredObject<TextHead> find() {
        StoredObject<TextHead> object = reader.get(test.key("a"));
        assertNotNull(object);
        return object;
    }

    private static byte[] bodyOf(StoredObject<TextHead> object) {
        ByteBuf body = object.residentBody();
        assertNotNull(body);
        return ByteBufUtil.getBytes(body);
    }

    @Test
    void objectWithANewHeadHasTheSameBody_andTheOneBeforeStaysUntilTheEnd() {
        test.put("a", "old", BODY);
        reader.begin();
        StoredObject<TextHead> before = find();
        test.update("a", "new");
        StoredObject<TextHead> after = find();
        assertEquals("old", before.head().text());
        assertEquals("new", after.head().text());
        assertArrayEquals(BODY, bodyOf(before));
        assertArrayEquals(BODY, bodyOf(after));
        test.remove("a");
        assertArrayEquals(BODY, bodyOf(after));
        assertNull(reader.get(test.key("a")));
        reader.end();
        reader.close();
        test.close();
    }

    @Test
    void aRetainedObjectReplacedDuringAReadIsNotHeldByTheReader() {
        test.put("a", "old", BODY);
        reader.begin();
        StoredObject<TextHead> object = find();
        test.put("a", "new", OTHER);
        object.retain();
        reader.end();
        test.put("b", "other", OTHER);
        test.remove("b");
        assertArrayEquals(BODY, bodyOf(object));
        assertTrue(object.release());
        reader.close();
        test.close();
    }

    /** As if an event loop was late: nothing is lost, and nothing remains. */
    @Test
    void objectsReadAtTheCloseStayUntilTheReaderEnds() throws IOException {
        test.put("a", "head", BODY);
        reader.begin();
        StoredObject<TextHead> object = find();
        test.store.close();
        assertArrayEquals(BODY, bodyOf(object));
        assertNull(reader.get(test.key("a")));
        reader.end();
        reader.close();
        assertEquals(0, test.buffersInUse());
    }
}
