package io.millrace.store.engine.listing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Tests the text of positions in listings. */
class ListCursorTest {
    @Test
    void aPositionIsReadFromItsText() {
        for (ListCursor cursor : new ListCursor[] {
            ListCursor.START,
            ListCursor.ofVolume(3),
            ListCursor.ofVolume(1).until(Long.MAX_VALUE),
            ListCursor.ofVolume(2).until(300).atSegment(299).inBlock(1L << 40, 7)
        }) {
            assertEquals(cursor, ListCursor.parse(cursor.text()));
        }
        assertEquals(ListCursor.START, ListCursor.parse(null));
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "",
                "1",
                "1.2.3",
                "1.2.3.4",
                "1.2.3.4.5.6",
                "1.2.x.4.5",
                "-1.2.3.4.5",
                "1.2.3.4.ffffffff1",
                "1.ffffffffffffffff.3.4.5"
            })
    void anotherTextIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> ListCursor.parse(text));
    }
}
