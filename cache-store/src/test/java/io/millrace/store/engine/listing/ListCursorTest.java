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
            ListCursor.START.onVolumes(-5).atVolume(3),
            ListCursor.START.onVolumes(7).atVolume(1).until(Long.MAX_VALUE),
            ListCursor.START.onVolumes(1).atVolume(2).until(300).atSegment(299).inBlock(1L << 40, 7)
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
                "1.2.3.4.5",
                "1.2.3.4.5.6.7",
                "1.2.x.4.5.6",
                "-1.2.3.4.5.6",
                "1.2.3.4.5.ffffffff1",
                "1.2.ffffffffffffffff.3.4.5"
            })
    void anotherTextIsRefused(String text) {
        assertThrows(IllegalArgumentException.class, () -> ListCursor.parse(text));
    }
}
