package io.millrace.proxy.esi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of an ESI document, in the order of the document. Immutable. */
public sealed interface EsiPart {
    /**
     * Bytes of the document that are sent unchanged.
     *
     * @param start position of the first byte
     * @param end position after the last byte
     */
    record Text(int start, int end) implements EsiPart {}

    /**
     * An {@code esi:include}: the place of a fragment.
     *
     * @param src reference to the fragment, with decoded entities
     * @param alt reference to the fragment that replaces one that fails; null for none
     * @param isOptional whether the element is left out if its fragments fail ({@code onerror="continue"})
     * @param position position of the element in the document
     */
    record Include(String src, @Nullable String alt, boolean isOptional, int position) implements EsiPart {}

    /**
     * An {@code esi:try}.
     *
     * @param attempt the parts that are sent if all their fragments succeed
     * @param except the parts that are sent otherwise
     */
    record Try(List<EsiPart> attempt, List<EsiPart> except) implements EsiPart {}
}
