package io.millrace.store.engine.listing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the text of positions in listings, and that a position is not used in a larger map. */
class ListCursorTest {
    @Test
    void aPositionIsReadFromItsText() {
        for (ListCursor cursor : new ListCursor[] {
            ListCursor.START, ListCursor.ofVolume(3), ListCursor.of(1, 300, 512), new ListCursor(2, 0, 16, true, -1, 7)
        }) {
            assertEquals(cursor, ListCursor.parse(cursor.text()));
        }
        assertEquals(ListCursor.START, ListCursor.parse(null));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "1", "1.2", "1.2.3.4", "1.2.3.4.5.6", "1.x.3", "-1.2.3", "1.2.ffffffff1"})
    void anotherTextIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> ListCursor.parse(text));
    }

    @Test
    void aPositionWithinAMapDoesNotFitALargerOne() {
        assertTrue(ListCursor.of(0, 5, 16).isOfAnotherMap(32));
        assertTrue(new ListCursor(0, 0, 16, true, 1, 1).isOfAnotherMap(32));
        assertFalse(ListCursor.of(0, 5, 16).isOfAnotherMap(16));
        assertFalse(ListCursor.ofVolume(1).isOfAnotherMap(32), "nothing of the map was listed");
    }
}
