/**
 * The volumes of a store: choice by key, admission, loss and return, and the journal that all volumes keep.
 */
@NullMarked
package io.millrace.store.engine.volume;

import org.jspecify.annotations.NullMarked;
