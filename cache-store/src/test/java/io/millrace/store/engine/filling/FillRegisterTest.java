package io.millrace.store.engine.filling;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import io.millrace.store.StoreKey;
import io.millrace.store.engine.filling.FillRegister.Ticket;
import org.junit.jupiter.api.Test;

class FillRegisterTest {
    private final FillRegister register = new FillRegister();
    private final StoreKey key = new StoreKey(new byte[] {1}, 1, 1);
    private final StoreKey other = new StoreKey(new byte[] {2}, 1, 1);

    @Test
    void aRemovalReachesAllFillsOfItsKeyAndNoOther() {
        Ticket first = register.begin(key, 1);
        Ticket second = register.begin(key, 1);
        Ticket third = register.begin(key, 1);
        Ticket elsewhere = register.begin(other, 1);
        register.end(key, second);
        register.invalidate(key);
        assertTrue(first.isInvalidated());
        assertFalse(second.isInvalidated());
        assertTrue(third.isInvalidated());
        assertFalse(elsewhere.isInvalidated());
        assertFalse(register.begin(key, 1).isInvalidated());
    }

    @Test
    void dropsEndedFills() {
        Ticket[] tickets = {register.begin(key, 1), register.begin(key, 1), register.begin(key, 1)};
        for (int i : new int[] {1, 2, 0}) {
            register.end(key, tickets[i]);
        }
        assertEquals(0, register.size());
        register.end(key, tickets[0]);
    }
}
