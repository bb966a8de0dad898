/**
 * What is worth its place on disk: how often keys were asked for of late, how that foretold whether they were asked for
 * again, and so which new objects a volume takes and which old ones it keeps.
 */
@NullMarked
package io.millrace.store.admission;

import org.jspecify.annotations.NullMarked;
