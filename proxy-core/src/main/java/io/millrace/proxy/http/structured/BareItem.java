package io.millrace.proxy.http.structured;

import java.util.Arrays;
import org.jspecify.annotations.Nullable;

/** The value of an item, without parameters (RFC 9651 s3.3). Immutable. */
public sealed interface BareItem {

    /** A whole number of at most 15 digits (s3.3.1). */
    record SfInteger(long value) implements BareItem {}

    /**
     * A number of at most 12 digits before and 3 after the point (s3.3.2).
     *
     * @param thousandths the number times 1000
     */
    record SfDecimal(long thousandths) implements BareItem {}

    /** Printable ASCII in quotes, here without them and without escapes (s3.3.3). */
    record SfString(String value) implements BareItem {}

    /** A short word (s3.3.4). */
    record SfToken(String value) implements BareItem {}

    /** A sequence of bytes (s3.3.5). */
    final class SfBytes implements BareItem {
        private final byte[] value;

        SfBytes(byte[] value) {
            this.value = value;
        }

        /** A copy of the bytes. */
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

    /** A time in epoch seconds (s3.3.7). */
    record SfDate(long epochSeconds) implements BareItem {}

    /** Text in any script (s3.3.8). */
    record SfDisplayString(String value) implements BareItem {}
}
