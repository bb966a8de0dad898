package io.millrace.store.engine;

import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;

import io.millrace.store.StoreConfig;
import io.millrace.store.StoreStatistics;
import io.millrace.store.StoredObject;
import io.millrace.store.io.SystemFileIo;
import org.junit.jupiter.api.Test;

/** Tests the simulation of other sizes of the RAM tier, with a whole store. */
class CurveRecorderTest {
    private static final byte[] BODY = TestStore.body(1, 5000);

    private final TestStore test = new TestStore(StoreConfig.builder().ramBytes(1 << 20), new SystemFileIo());

    private void get(String key) {
        StoredObject<TextHead> object = test.store.get(test.key(key));
        assertNotNull(object);
        object.release();
    }

    private long requests() {
        StoreStatistics.HitRatioCurve curve = test.store.curve();
        return curve == null ? -1 : curve.requests();
    }

    @Test
    void hitsAndAbsentKeysAreRequests_butReplacementsAreNot() {
        assertNull(test.store.curve());
        test.put("before", "head", BODY);
        test.store.simulateSizes(key -> "host");
        assertEquals(0, requests());
        test.put("a", "head", BODY);
        for (int i = 0; i < 8; i++) {
            get("a");
        }
        test.put("a", "head", BODY);
        test.update("a", "new");
        get("a");
        // The object, eight hits and one more; an operation of the test may look at the object too.
        await().until(() -> requests() >= 10);
        StoreStatistics.HitRatioCurve curve = test.store.curve();
        assertNotNull(curve);
        assertEquals(StoreStatistics.CurveStage.REQUESTS, curve.stage());
        assertEquals(curve.requests(), curve.requestsTotal());
        assertEquals(1.0 - 1.0 / curve.requests(), curve.ramHits(), 1e-9, "measured");
        assertEquals(6, curve.points().size());
        assertEquals("host", curve.groups().get(0).name());
        assertEquals(1.0 - 1.0 / curve.requests(), curve.points().get(2).hits(), 0.001);
        test.close();
        assertNull(test.store.curve());
    }

    @Test
    void itCanBeTurnedOffAndOn() {
        for (int i = 0; i < 3; i++) {
            test.store.simulateSizes(key -> "host");
            test.store.simulateSizes(key -> "ignored while it runs");
            test.put("a" + i, "head", BODY);
            await().until(() -> requests() == 1);
            test.store.simulateSizes(null);
            test.store.simulateSizes(null);
            assertNull(test.store.curve());
            test.put("b" + i, "head", BODY);
        }
        test.close();
    }

    @Test
    void aStoreWithoutRamHasNoCurve() {
        try (TestStore none = new TestStore(StoreConfig.builder().ramBytes(0), new SystemFileIo())) {
            none.store.simulateSizes(key -> "host");
            assertNull(none.store.curve());
        }
        test.close();
    }
}
