package io.millrace.proxy.esi;

import java.util.List;
import org.jspecify.annotations.Nullable;

/** A part of an ESI document, in the order of the document. Immutable. */
public sealed interface EsiPart {
    /**
     * Bytes of the document that are sent unchanged.
     *
     * @param start index of the first byte
     * @param end index after the last byte
     */
    record Text(int start, int end) implements EsiPart {}

    /**
     * An {@code esi:include} element, which the content of a fragment replaces.
     *
     * @param src reference to the fragment, with decoded entities
     * @param alt reference to the fragment that is used if the first one fails; null for none
     * @param isOptional whether the element is left out if its fragments fail ({@code onerror="continue"})
     * @param position index of the element's first byte in the document
     */
    record Include(String src, @Nullable String alt, boolean isOptional, int position) implements EsiPart {}

    /**
     * An {@code esi:try} element.
     *
     * @param attempt the parts that are sent if all their fragments succeed
     * @param except the parts that are sent if a fragment of {@code attempt} fails
     */
    record Try(List<EsiPart> attempt, List<EsiPart> except) implements EsiPart {}
}
