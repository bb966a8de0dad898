/**
 * Admission to the disk and retention on it. The policy uses recent request counts of keys, and the reuse rates that
 * these counts predicted. It decides which new objects a volume admits and which old ones it keeps.
 */
@NullMarked
package io.millrace.store.admission;

import org.jspecify.annotations.NullMarked;
