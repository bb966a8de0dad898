/** The journal of a storage path: short facts that outlive the process. Knows files and nothing of objects. */
@NullMarked
package io.millrace.store.journal;

import org.jspecify.annotations.NullMarked;
