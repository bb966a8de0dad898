/**
 * Admission to and retention on disk: recent request counts of keys, the reuse rate that they predict, and the
 * decisions which new objects a volume admits and which old ones it keeps.
 */
@NullMarked
package io.millrace.store.admission;

import org.jspecify.annotations.NullMarked;
