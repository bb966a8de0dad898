package io.millrace.proxy.http.structured;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The value of an item, without parameters (RFC 9651 s3.3). Immutable. */
public sealed interface BareItem {

    /** An integer of at most 15 digits (s3.3.1). */
    record SfInteger(long value) implements BareItem {}

    /**
     * A decimal with at most 12 digits before and 3 after the point (s3.3.2).
     *
     * @param thousandths the number times 1000
     */
    record SfDecimal(long thousandths) implements BareItem {}

    /** A string of printable ASCII characters, without its quotes and escapes (s3.3.3). */
    record SfString(String value) implements BareItem {}

    /** A token (s3.3.4). */
    record SfToken(String value) implements BareItem {}

    /** A byte sequence (s3.3.5). */
    final class SfBytes implements BareItem {
        private final byte[] value;

        SfBytes(byte[] value) {
            this.value = value;
        }

        /** Returns a copy of the bytes. */
        public byte[] value() {
            return value.clone();
        }

        @Override
        public boolean equals(@Nullable Object other) {
            return other instanceof SfBytes that && Arrays.equals(value, that.value);
        }

        @Override
        public int hashCode() {
            return Arrays.hashCode(value);
        }

        @Override
        public String toString() {
            return value.length + " bytes";
        }
    }

    /** {@code ?1} or {@code ?0}; a parameter without a value is true (s3.3.6). */
    record SfBoolean(boolean value) implements BareItem {}

    /** A date in epoch seconds (s3.3.7). */
    record SfDate(long epochSeconds) implements BareItem {}

    /** A display string: Unicode text (s3.3.8). */
    record SfDisplayString(String value) implements BareItem {}
}
