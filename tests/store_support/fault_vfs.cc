#include "tests/store_support/fault_vfs.h"

#include <cerrno>
#include <new>
#include <utility>

namespace hindsight {
namespace {

struct FaultFile {
  sqlite3_file base;
  FaultVfs* vfs;
  sqlite3_file* real;  // in the bytes behind this
};

FaultFile& self(sqlite3_file* file) { return *reinterpret_cast<FaultFile*>(file); }
sqlite3_file* real(sqlite3_file* file) { return self(file).real; }

int close_file(sqlite3_file* file) { return real(file)->pMethods->xClose(real(file)); }
int read_file(sqlite3_file* file, void* to, int size, sqlite3_int64 at) {
  return real(file)->pMethods->xRead(real(file), to, size, at);
}
int write_file(sqlite3_file* file, const void* from, int size, sqlite3_int64 at) {
  const int code = self(file).vfs->count(FileStep::kWrite);
  if (code != SQLITE_OK) {
    real(file)->pMethods->xWrite(real(file), from, size / 2, at);
    return code;
  }
  return real(file)->pMethods->xWrite(real(file), from, size, at);
}
int truncate_file(sqlite3_file* file, sqlite3_int64 size) {
  const int code = self(file).vfs->count(FileStep::kTruncate);
  return code != SQLITE_OK ? code : real(file)->pMethods->xTruncate(real(file), size);
}
int sync_file(sqlite3_file* file, int flags) {
  const int code = self(file).vfs->count(FileStep::kSync);
  return code != SQLITE_OK ? code : real(file)->pMethods->xSync(real(file), flags);
}
int size_of_file(sqlite3_file* file, sqlite3_int64* size) {
  return real(file)->pMethods->xFileSize(real(file), size);
}
int lock_file(sqlite3_file* file, int kind) {
  return real(file)->pMethods->xLock(real(file), kind);
}
int unlock_file(sqlite3_file* file, int kind) {
  return real(file)->pMethods->xUnlock(real(file), kind);
}
int check_lock(sqlite3_file* file, int* held) {
  return real(file)->pMethods->xCheckReservedLock(real(file), held);
}
int control_file(sqlite3_file* file, int op, void* argument) {
  return real(file)->pMethods->xFileControl(real(file), op, argument);
}
int sector_size(sqlite3_file* file) { return real(file)->pMethods->xSectorSize(real(file)); }
int characteristics(sqlite3_file* file) {
  return real(file)->pMethods->xDeviceCharacteristics(real(file));
}
int shm_map(sqlite3_file* file, int page, int size, int extend, void volatile** to) {
  return real(file)->pMethods->xShmMap(real(file), page, size, extend, to);
}
int shm_lock(sqlite3_file* file, int offset, int count, int flags) {
  return real(file)->pMethods->xShmLock(real(file), offset, count, flags);
}
void shm_barrier(sqlite3_file* file) { real(file)->pMethods->xShmBarrier(real(file)); }
int shm_unmap(sqlite3_file* file, int remove) {
  return real(file)->pMethods->xShmUnmap(real(file), remove);
}

const sqlite3_io_methods kMethods = {
    2,         close_file,  read_file,  write_file,   truncate_file, sync_file,       size_of_file,
    lock_file, unlock_file, check_lock, control_file, sector_size,   characteristics, shm_map,
    shm_lock,  shm_barrier, shm_unmap,  nullptr,      nullptr};

int open_file(sqlite3_vfs* vfs, sqlite3_filename name, sqlite3_file* file, int flags, int* out) {
  FaultFile& opened = self(file);
  opened.base.pMethods = nullptr;
  opened.vfs = static_cast<FaultVfs*>(vfs->pAppData);
  opened.real = reinterpret_cast<sqlite3_file*>(&opened + 1);
  if (const int code = opened.vfs->count(FileStep::kOpen); code != SQLITE_OK) {
    return code;
  }
  sqlite3_vfs* const under = opened.vfs->real();
  const int code = under->xOpen(under, name, opened.real, flags, out);
  if (code == SQLITE_OK) {
    opened.base.pMethods = &kMethods;
  }
  return code;
}

long of(const std::map<FileStep, long>& steps, FileStep step) {
  const auto found = steps.find(step);
  return found == steps.end() ? 0 : found->second;
}

}  // namespace

FaultVfs::FaultVfs(std::string name)
    : name_(std::move(name)), real_(sqlite3_vfs_find(nullptr)), vfs_(*real_) {
  vfs_.pNext = nullptr;
  vfs_.zName = name_.c_str();
  vfs_.pAppData = this;
  vfs_.szOsFile = static_cast<int>(sizeof(FaultFile)) + real_->szOsFile;
  vfs_.xOpen = open_file;
  sqlite3_vfs_register(&vfs_, 0);
  use_file_faults_for_test(this);
}

FaultVfs::~FaultVfs() {
  use_file_faults_for_test(nullptr);
  sqlite3_vfs_unregister(&vfs_);
}

void FaultVfs::fail(const DeviceFault& fault, long nth) {
  const std::lock_guard lock(mutex_);
  fault_ = fault;
  left_ = nth;
  failed_ = false;
  after_failure_ = 0;
}

void FaultVfs::mend() {
  const std::lock_guard lock(mutex_);
  fault_.reset();
  mended_ = true;
}

bool FaultVfs::has_failed() const {
  const std::lock_guard lock(mutex_);
  return failed_;
}

long FaultVfs::after_failure() const {
  const std::lock_guard lock(mutex_);
  return after_failure_;
}

long FaultVfs::steps(FileStep step) const {
  const std::lock_guard lock(mutex_);
  return of(sqlite_steps_, step) + of(other_steps_, step);
}

long FaultVfs::sqlite_steps(FileStep step) const {
  const std::lock_guard lock(mutex_);
  return of(sqlite_steps_, step);
}

int FaultVfs::count(FileStep step, bool of_sqlite) {
  const std::lock_guard lock(mutex_);
  if (mended_) {
    return SQLITE_OK;
  }
  (of_sqlite ? sqlite_steps_ : other_steps_)[step] += 1;
  if (!fault_) {
    return SQLITE_OK;
  }
  if (failed_) {
    const bool changes = step == FileStep::kWrite || step == FileStep::kSync;
    after_failure_ += changes && of_sqlite ? 1 : 0;
    return fault_->for_ever && step == fault_->step ? fault_->code : SQLITE_OK;
  }
  if (step == fault_->step && --left_ == 0) {
    failed_ = true;
    return fault_->code;
  }
  return SQLITE_OK;
}

int FaultVfs::at(FileStep step) {
  const int code = count(step, false);
  return code == SQLITE_OK ? 0 : code == SQLITE_FULL ? ENOSPC : EIO;
}

}  // namespace hindsight
